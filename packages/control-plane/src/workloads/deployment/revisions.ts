import type { Deployment, PodTemplateSpec, ReplicaSet } from '@bowline/kubernetes';
import { sameJson } from '../../node-agent/same-json.ts';
import { byAge } from '../pods/pod-state.ts';

/** HASH_LABEL distinguishes the Pods of one template from those of another. */
export const HASH_LABEL = 'pod-template-hash';
/** REVISION numbers the templates that a Deployment has had. */
export const REVISION = 'deployment.kubernetes.io/revision';
/** REVISION_HISTORY holds the revisions that a ReplicaSet had before, if its template became current again. */
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
/** DESIRED_REPLICAS holds the Deployment's replicas at the time it last sized the ReplicaSet. */
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
/** MAX_REPLICAS holds the maximum number of replicas at that time, surge included. */
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';

/** Annotations of a Deployment that do not apply to its ReplicaSets. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
]);

/** revisionOf returns a ReplicaSet's revision; 0 if it has none. */
export function revisionOf({ metadata }: ReplicaSet | Deployment): number {
  const text = metadata?.annotations?.[REVISION] ?? '';
  return /^\d+$/.test(text) ? Number(text) : 0;
}

/** newReplicaSetOf returns the ReplicaSet of the Deployment's current template: the oldest one, if several match. */
export function newReplicaSetOf(deployment: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  return sets.toSorted(byAge).find(({ spec }) => isSameTemplate(spec?.template, deployment.spec?.template));
}

/** isSameTemplate compares two templates without their hash label. */
export function isSameTemplate(a: PodTemplateSpec | undefined, b: PodTemplateSpec | undefined): boolean {
  return sameJson(withoutHash(a), withoutHash(b));
}

function withoutHash(template: PodTemplateSpec | undefined): unknown {
  const { [HASH_LABEL]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
}

/**
 * annotationsFor returns the annotations of the newest ReplicaSet: the Deployment's own annotations and its revision,
 * which is larger than that of any other. `set` is undefined while it does not exist.
 */
export function annotationsFor(
  deployment: Deployment,
  set: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Readonly<Record<string, string>> {
  const before = set?.metadata?.annotations ?? {};
  const copied = Object.entries(deployment.metadata?.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key));
  const next = Math.max(0, ...old.map(revisionOf)) + 1;
  const own = set ? revisionOf(set) : 0;
  if (own >= next) return { ...before, ...Object.fromEntries(copied) };
  const history = own > 0 ? [...(before[REVISION_HISTORY]?.split(',') ?? []), String(own)].join(',') : undefined;
  return {
    ...before,
    ...Object.fromEntries(copied),
    [REVISION]: String(next),
    ...(history === undefined ? {} : { [REVISION_HISTORY]: history }),
  };
}

/** expiredReplicaSets returns the ReplicaSets beyond the history limit, oldest first. */
export function expiredReplicaSets(deployment: Deployment, old: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const limit = deployment.spec?.revisionHistoryLimit;
  if (limit === undefined || limit > 2 ** 31 - 2) return [];
  const kept = old.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
  const excess = kept.length - limit;
  if (excess <= 0) return [];
  return kept
    .toSorted((a, b) => revisionOf(a) - revisionOf(b) || byAge(a, b))
    .slice(0, excess)
    .filter(
      ({ spec, status, metadata }) =>
        (status?.replicas ?? 0) === 0 &&
        (spec?.replicas ?? 1) === 0 &&
        (metadata?.generation ?? 0) <= (status?.observedGeneration ?? 0),
    );
}
