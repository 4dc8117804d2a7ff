import { apiVersionOf, type ClusterRole, type LabelSelector, type PolicyRule } from '@bowline/kubernetes';
import { type Clock, canonicalJson, labelSelector, validateLabelSelector } from '@bowline/machinery';
import type { FieldTracking } from '../fields/field-tracking.ts';
import { draftOf } from '../printing/render.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Storage } from '../storage/storage.ts';
import { objectOf, type Stored, splitKey } from '../storage/stored.ts';
import { objectsIn, rulesIn } from './policy-rule.ts';
import { RBAC_COLLECTIONS } from './rbac-index.ts';

/** AGGREGATION_MANAGER owns the rules of aggregated roles. */
export const AGGREGATION_MANAGER = 'clusterrole-aggregation-controller';

/**
 * Aggregated roles may be aggregated in turn, up to this depth. Roles that select each other in a cycle might never
 * settle.
 */
const MAX_ROUNDS = 10;

/** AggregationOptions holds the dependencies of the aggregation of ClusterRoles. */
export interface AggregationOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly fields: FieldTracking;
  /** The served resource of ClusterRoles. */
  readonly resource: ApiResource;
  /** Receives errors that are bugs. */
  readonly onError: (error: unknown) => void;
}

/**
 * aggregateClusterRoles maintains the rules of ClusterRoles with an aggregationRule: all rules of the ClusterRoles that
 * its selectors match. It starts immediately, watches the storage, and writes right after the write that requires an
 * update.
 */
export function aggregateClusterRoles(options: AggregationOptions): Disposable {
  const { storage } = options;
  let isScheduled = false;
  let isStopped = false;
  let isWriting = false;
  const aggregateAll = (): void => {
    isWriting = true;
    try {
      for (let round = 0; round < MAX_ROUNDS; round++) if (!aggregateOnce(options)) return;
    } finally {
      isWriting = false;
    }
  };
  const watch = storage.watch(RBAC_COLLECTIONS.clusterRoles, () => {
    if (isScheduled || isWriting) return;
    isScheduled = true;
    // Deferred: all watchers must see this write before they see the aggregated rules.
    queueMicrotask(() => {
      isScheduled = false;
      if (!isStopped) aggregateAll();
    });
  });
  aggregateAll();
  return {
    [Symbol.dispose]() {
      isStopped = true;
      watch[Symbol.dispose]();
    },
  };
}

/** aggregateOnce writes the rules of every aggregating ClusterRole, and reports whether any of them changed. */
function aggregateOnce(options: AggregationOptions): boolean {
  let hasChanged = false;
  // In reverse order, because view is aggregated into edit, and edit into admin: one round is then enough for those.
  for (const stored of [...options.storage.select(RBAC_COLLECTIONS.clusterRoles)].reverse()) {
    // Most roles do not aggregate: searching the text avoids parsing them.
    if (!stored.json.includes('"aggregationRule"')) continue;
    try {
      if (aggregate(options, stored)) hasChanged = true;
    } catch (error) {
      // A role that cannot be aggregated must not prevent the update of others.
      options.onError(error);
    }
  }
  return hasChanged;
}

function aggregate({ storage, clock, fields, resource }: AggregationOptions, stored: Stored): boolean {
  const role = objectOf(stored);
  const { aggregationRule } = role as ClusterRole;
  if (!aggregationRule) return false;
  const rules = aggregatedRules(storage, stored.key, aggregationRule);
  if (canonicalJson(rules) === canonicalJson(rulesIn(role))) return false;
  const { name } = splitKey(stored.key);
  const applied = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, rules };
  const writer = { manager: AGGREGATION_MANAGER, subresource: '', now: clock.now(), force: true };
  const object = fields.apply(resource, draftOf(stored), applied, writer);
  return storage.update(RBAC_COLLECTIONS.clusterRoles, stored.key, stored.revision, object) !== undefined;
}

/** aggregatedRules returns all rules of the stored roles that are selected, except those of the role itself. */
export function aggregatedRules(
  storage: Storage,
  own: string,
  { clusterRoleSelectors }: NonNullable<ClusterRole['aggregationRule']>,
): readonly PolicyRule[] {
  const rules = new Map<string, PolicyRule>();
  for (const selector of objectsIn<LabelSelector>(clusterRoleSelectors)) {
    if (validateLabelSelector(selector, '').length > 0) continue;
    const selected = labelSelector(selector);
    for (const stored of storage.select(RBAC_COLLECTIONS.clusterRoles)) {
      if (stored.key === own || !selected.matches(stored.labels)) continue;
      for (const rule of rulesIn(objectOf(stored))) rules.set(canonicalJson(rule), rule);
    }
  }
  return [...rules.values()];
}
