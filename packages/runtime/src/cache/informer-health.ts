import type { Resource } from '@bowline/kubernetes';
import { type InformerHealth, type InformerState, RECONNECT_REASONS, type ReconnectReason } from './health.ts';
import type { ReflectorStatus } from './reflector-status.ts';
import type { Scope } from './scope.ts';

/** HealthInput holds the internal state from which the health of an informer is computed. */
export interface HealthInput {
  readonly resource: Resource;
  readonly view: InformerHealth['view'];
  readonly scope: Pick<Scope, 'namespaces' | 'labelSelector' | 'fieldSelector'>;
  readonly statuses: readonly Readonly<ReflectorStatus>[];
  /** Monotonic wire time. */
  readonly now: number;
  readonly served: boolean | undefined;
  readonly optional: boolean;
  readonly syncedAt: number | undefined;
  readonly objects: number;
  readonly unconfirmedWrites: number;
  readonly handlerErrors: number;
  readonly projectionErrors: number;
}

/** The states from best to worst, to select one state for several watches. */
const BEST_TO_WORST: readonly InformerState[] = [
  'watching',
  'syncing',
  'idle',
  'backing-off',
  'not-served',
  'forbidden',
  'stopped',
];

/** informerHealth summarizes the watches of one informer. */
export function informerHealth(input: HealthInput): InformerHealth {
  const { resource, scope, statuses, now } = input;
  const worst = statuses.reduce((left, right) =>
    BEST_TO_WORST.indexOf(right.state) > BEST_TO_WORST.indexOf(left.state) ? right : left,
  );
  const sum = (count: (status: Readonly<ReflectorStatus>) => number): number =>
    statuses.reduce((total, status) => total + count(status), 0);
  const lastEventAgeMs = age(now, latest(statuses.map((status) => status.lastEventAt)));
  const lastBookmarkAgeMs = age(now, latest(statuses.map((status) => status.lastBookmarkAt)));
  const aliveAgeMs = age(now, oldest(statuses.map((status) => status.aliveAt?.())));
  return {
    group: resource.group,
    version: resource.version,
    kind: resource.kind,
    view: input.view,
    ...(scope.namespaces && { namespaces: scope.namespaces }),
    ...(scope.labelSelector !== undefined && { labelSelector: scope.labelSelector }),
    ...(scope.fieldSelector !== undefined && { fieldSelector: scope.fieldSelector }),
    state: worst.state,
    ...(worst.reason !== undefined && { reason: worst.reason }),
    synced: statuses.every((status) => status.synced),
    ...(input.served !== undefined && { served: input.served }),
    optional: input.optional,
    ...(input.syncedAt !== undefined && { syncedAt: input.syncedAt }),
    objects: input.objects,
    unconfirmedWrites: input.unconfirmedWrites,
    ...(lastEventAgeMs !== undefined && { lastEventAgeMs }),
    ...(lastBookmarkAgeMs !== undefined && { lastBookmarkAgeMs }),
    ...(aliveAgeMs !== undefined && { aliveAgeMs }),
    relists: sum((status) => status.relists),
    expired: sum((status) => status.expired),
    rewinds: sum((status) => status.rewinds),
    decodeErrors: sum((status) => status.decodeErrors),
    skippedEvents: sum((status) => status.skippedEvents),
    projectionErrors: input.projectionErrors,
    handlerErrors: input.handlerErrors,
    reconnects: Object.fromEntries(
      RECONNECT_REASONS.map((reason) => [reason, sum((status) => status.reconnects[reason])]),
    ) as Record<ReconnectReason, number>,
  };
}

function age(now: number, at: number | undefined): number | undefined {
  return at === undefined ? undefined : Math.max(0, now - at);
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

function oldest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
