import { apiVersionOf, type ClusterRole, type LabelSelector, type PolicyRule } from '@bowline/kubernetes';
import { type Clock, labelSelector, validateLabelSelector } from '@bowline/machinery';
import type { FieldTracking } from '../fields/field-tracking.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import { draftOf } from '../printing/render.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Storage } from '../storage/storage.ts';
import { objectOf, type Stored, splitKey } from '../storage/stored.ts';
import { objectsIn, rulesIn } from './policy-rule.ts';
import { RBAC_COLLECTIONS } from './rbac-index.ts';

/** AGGREGATION_MANAGER owns the rules of aggregated roles. */
export const AGGREGATION_MANAGER = 'clusterrole-aggregation-controller';

/** What aggregates may be aggregated in turn, this deep. Roles that select each other in a circle might never settle. */
const MOST_ROUNDS = 10;

/** AggregationOptions are what the aggregation of ClusterRoles needs. */
export interface AggregationOptions {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly fields: FieldTracking;
  /** How ClusterRoles are served. */
  readonly resource: ApiResource;
  /** Told of errors that are bugs. */
  readonly onError: (error: unknown) => void;
}

/**
 * aggregateClusterRoles keeps the rules of ClusterRoles with an aggregationRule: all rules of those that its selectors select.
 * It begins at once, follows the storage, and writes right after the write that made it necessary.
 */
export function aggregateClusterRoles(options: AggregationOptions): Disposable {
  const { storage } = options;
  let isPlanned = false;
  let isStopped = false;
  let isWriting = false;
  const settle = (): void => {
    isWriting = true;
    try {
      for (let round = 0; round < MOST_ROUNDS; round++) if (!aggregateOnce(options)) return;
    } finally {
      isWriting = false;
    }
  };
  const watch = storage.watch(RBAC_COLLECTIONS.clusterRoles, () => {
    if (isPlanned || isWriting) return;
    isPlanned = true;
    // Not at once: all watchers must hear of this write before they hear of ours.
    queueMicrotask(() => {
      isPlanned = false;
      if (!isStopped) settle();
    });
  });
  settle();
  return {
    [Symbol.dispose]() {
      isStopped = true;
      watch[Symbol.dispose]();
    },
  };
}

/** aggregateOnce writes the rules of every ClusterRole that aggregates, and says whether any had changed. */
function aggregateOnce(options: AggregationOptions): boolean {
  let hasChanged = false;
  // Backwards, since view is a part of edit, and edit of admin: one round is then enough for those.
  for (const stored of [...options.storage.select(RBAC_COLLECTIONS.clusterRoles)].reverse()) {
    // Most do not aggregate: a look at the text spares reading them.
    if (!stored.json.includes('"aggregationRule"')) continue;
    try {
      if (aggregate(options, stored)) hasChanged = true;
    } catch (error) {
      // One that cannot be aggregated must not keep others from it.
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

/** aggregatedRules are all rules of the stored roles that are selected, but for those of the role itself. */
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
