import type { Clock } from '@bowline/machinery';
import type { Counter, Gauge, Histogram, Metrics } from '@bowline/runtime';
import { MIGRATION_PHASES, type MigrationPhase } from './api/migration-phases.ts';
import { FINALIZERS } from './api/names.ts';
import { OPERAND_KINDS, type OperandKind } from './api/operand-kinds.ts';
import { SHARED_FIELDS, type SharedField } from './resolve/shared-config.ts';

/** ZtwimMetricsOptions configures the metrics. */
export interface ZtwimMetricsOptions {
  readonly metrics: Metrics;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** REVIEWED_KINDS are the kinds whose changes are reviewed by admission. */
const REVIEWED_KINDS = ['ZeroTrustWorkloadIdentityManager', ...OPERAND_KINDS] as const;

/** ReviewedKind is a kind whose changes are reviewed by admission. */
export type ReviewedKind = (typeof REVIEWED_KINDS)[number];

/** Fields that only one kind has. Those of a refusal that are not listed count as `other`, so that labels are bounded. */
const OWN_FIELDS: { readonly [K in ReviewedKind]?: readonly string[] } = {
  ZeroTrustWorkloadIdentityManager: ['bundleConfig.name', 'bundleConfig.namespace', 'namespace'],
};
const OTHER = 'other';

/** Cleanups take up to ten minutes, a change of the trust domain up to four. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

/** Parent is the ZeroTrustWorkloadIdentityManager, as far as metrics depend on it. */
interface Parent {
  readonly metadata?: { readonly uid?: string | undefined; readonly generation?: number | undefined } | undefined;
  readonly status?: { readonly observedGeneration?: number | undefined } | undefined;
}

/** ZtwimMetrics holds the operator's own metrics. */
export class ZtwimMetrics {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ready: Gauge;
  readonly #sync: Histogram;
  readonly #conflicts: Gauge;
  readonly #rollouts: Counter;
  readonly #finalizerDuration: Histogram;
  readonly #finalizerTimeouts: Counter;
  readonly #forced: Counter;
  readonly #migration: Gauge;
  readonly #denied: Counter;
  /** The newest configuration, and when it was first seen. Undefined time: it is older than this process. */
  #config: { readonly id: string; readonly seenAt: number | undefined } | undefined;
  /** The newest configuration of which each operand was written, or given up. */
  readonly #settled = new Map<OperandKind, string>();

  constructor({ metrics, clock }: ZtwimMetricsOptions) {
    this.#clock = clock;
    this.#ready = metrics.gauge({
      name: 'ztwim_operand_ready',
      help: 'Whether an operand is ready: 1, else 0. An operand that does not exist is not ready.',
      labels: ['kind'],
    });
    this.#sync = metrics.histogram({
      name: 'ztwim_config_sync_seconds',
      help: 'Time from a change of the ZeroTrustWorkloadIdentityManager until the objects of an operand follow it.',
      labels: ['kind'],
      buckets: SECONDS,
    });
    this.#rollouts = metrics.counter({
      name: 'ztwim_rollouts_total',
      help: 'Number of changes of the pod template of an operand.',
      labels: ['kind'],
    });
    this.#conflicts = metrics.gauge({
      name: 'ztwim_config_conflicts',
      help: 'Number of values of operands that contradict the configuration, by field.',
      labels: ['field'],
    });
    this.#finalizerDuration = metrics.histogram({
      name: 'ztwim_finalizer_duration_seconds',
      help: 'Time from the deletion of an object until the cleanup of its finalizer has ended.',
      labels: ['finalizer'],
      buckets: SECONDS,
    });
    this.#finalizerTimeouts = metrics.counter({
      name: 'ztwim_finalizer_timeouts_total',
      help: 'Number of cleanups that exceeded their time limit.',
      labels: ['finalizer'],
    });
    this.#forced = metrics.counter({
      name: 'ztwim_finalizers_forced_total',
      help: 'Number of finalizers that were removed by force, because their cleanup did not end.',
      labels: ['finalizer'],
    });
    this.#migration = metrics.gauge({
      name: 'ztwim_migration_phase',
      help: 'The phase of the migration: 1 for the present one, else 0.',
      labels: ['phase'],
    });
    this.#denied = metrics.counter({
      name: 'ztwim_admission_denied_total',
      help: 'Number of refused changes, by kind and field.',
      labels: ['kind', 'field'],
    });
    this.#createAtZero();
  }

  #createAtZero(): void {
    for (const kind of OPERAND_KINDS) {
      this.#ready.set(0, { kind });
      this.#sync.zero?.({ kind });
      this.#rollouts.add({ kind }, 0);
    }
    for (const field of SHARED_FIELDS) this.#conflicts.set(0, { field });
    for (const finalizer of Object.values(FINALIZERS)) {
      this.#finalizerDuration.zero?.({ finalizer });
      this.#finalizerTimeouts.add({ finalizer }, 0);
      this.#forced.add({ finalizer }, 0);
    }
    for (const phase of MIGRATION_PHASES) this.#migration.set(0, { phase });
    for (const kind of REVIEWED_KINDS) {
      for (const field of deniedFields(kind)) this.#denied.add({ kind, field }, 0);
    }
  }

  /** operandReady records whether an operand is ready. One that no longer exists is not. */
  operandReady(kind: OperandKind, isReady: boolean): void {
    this.#ready.set(isReady ? 1 : 0, { kind });
  }

  /** configSeen records that a controller uses this version of the ZeroTrustWorkloadIdentityManager. */
  configSeen(parent: Parent): void {
    const id = idOf(parent);
    if (this.#config?.id === id) return;
    // After a restart, when it changed is not known. A version that was not yet reconciled just changed.
    const isNew = parent.status?.observedGeneration !== parent.metadata?.generation;
    this.#config = { id, seenAt: isNew ? this.#clock.monotonic() : undefined };
  }

  /** configSynced records that the objects of an operand follow this version of the ZeroTrustWorkloadIdentityManager. */
  configSynced(kind: OperandKind, parent: Parent): void {
    const id = idOf(parent);
    if (this.#settled.get(kind) === id) return;
    this.#settled.set(kind, id);
    if (this.#config?.id !== id || this.#config.seenAt === undefined) return;
    this.#sync.observe((this.#clock.monotonic() - this.#config.seenAt) / 1_000, { kind });
  }

  /** configHeld records that an operand waits for a user, so that the time until its objects follow is not measured. */
  configHeld(kind: OperandKind): void {
    if (this.#config) this.#settled.set(kind, this.#config.id);
  }

  /** rolledOut counts a change of the pod template of an operand. */
  rolledOut(kind: OperandKind): void {
    this.#rollouts.add({ kind });
  }

  /** setConflicts records the fields of all conflicts, one entry for each conflict. */
  setConflicts(fields: readonly SharedField[]): void {
    for (const field of SHARED_FIELDS) {
      this.#conflicts.set(fields.filter((each) => each === field).length, { field });
    }
  }

  /** cleanedUp records how long the cleanup of a finalizer took. */
  cleanedUp(finalizer: string, durationMs: number): void {
    this.#finalizerDuration.observe(Math.max(0, durationMs) / 1_000, { finalizer });
  }

  /** timedOut counts a cleanup that exceeded its time limit. */
  timedOut(finalizer: string): void {
    this.#finalizerTimeouts.add({ finalizer });
  }

  /** forced counts a finalizer that was removed by force. */
  forced(finalizer: string): void {
    this.#forced.add({ finalizer });
  }

  /** setMigrationPhase records the present phase of the migration; undefined: there is none. */
  setMigrationPhase(current: MigrationPhase | undefined): void {
    for (const phase of MIGRATION_PHASES) this.#migration.set(phase === current ? 1 : 0, { phase });
  }

  /** denied counts a refused change. `fields` are the paths of its causes. */
  denied(kind: ReviewedKind, fields: readonly (string | undefined)[]): void {
    const known = deniedFields(kind);
    const names = fields.map((path = '') => path.replace(/^spec\./, ''));
    for (const field of new Set(names.map((name) => (known.includes(name) ? name : OTHER)))) {
      this.#denied.add({ kind, field });
    }
  }
}

function deniedFields(kind: ReviewedKind): readonly string[] {
  return [...SHARED_FIELDS, ...(OWN_FIELDS[kind] ?? []), OTHER];
}

function idOf({ metadata }: Parent): string {
  return `${metadata?.uid}/${metadata?.generation}`;
}
