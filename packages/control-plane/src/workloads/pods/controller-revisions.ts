import {
  ControllerRevision,
  type KubernetesObject,
  keyOf,
  type PodTemplateSpec,
  type Resource,
} from '@bowline/kubernetes';
import { isAlreadyExists } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import { sameJson } from '../../node-agent/same-json.ts';
import { byAge, isControlledBy } from './pod-state.ts';
import { templateHash } from './template-hash.ts';

/** The history limit of a workload that sets none. */
const DEFAULT_HISTORY_LIMIT = 10;

/** RevisionedWorkload is a workload that keeps its past templates as ControllerRevisions. */
export interface RevisionedWorkload<O extends KubernetesObject> {
  readonly resource: Resource<O>;
  readonly object: O;
  readonly template: PodTemplateSpec;
  /** The label of a revision that holds its hash. */
  readonly hashLabel: string;
  readonly collisionCount: number;
  /** The revisions that the workload owns. */
  readonly revisions: readonly ControllerRevision[];
}

/** Revisioned holds the revision of the current template, or reports that another one has its name. */
export type Revisioned = { readonly revision: ControllerRevision } | { readonly collided: true };

/** currentRevision finds the revision of the current template and makes it the newest, or creates it. */
export async function currentRevision<O extends KubernetesObject>(
  live: LiveClient,
  workload: RevisionedWorkload<O>,
): Promise<Revisioned> {
  const { resource, object, template, hashLabel, collisionCount } = workload;
  const ordered = workload.revisions.toSorted((a, b) => a.revision - b.revision || byAge(a, b));
  const newest = ordered.at(-1);
  const data = dataOf(template);
  const same = ordered.filter((each) => sameJson(each.data, data)).at(-1);
  if (same && same === newest) return { revision: same };
  const next = (newest?.revision ?? 0) + 1;
  if (same) {
    const body = { metadata: { resourceVersion: same.metadata?.resourceVersion }, revision: next };
    return { revision: await live.patch(ControllerRevision, keyOf(same), { type: 'merge', body }) };
  }
  const { name = '', namespace, annotations } = object.metadata ?? {};
  const hash = templateHash(template, collisionCount);
  const made: ControllerRevision = {
    metadata: {
      name: `${name}-${hash}`,
      namespace,
      labels: { ...template.metadata?.labels, [hashLabel]: hash },
      annotations: { ...annotations },
      ownerReferences: [ownerReference({ resource, object })],
    },
    data,
    revision: next,
  };
  try {
    return { revision: await live.create(ControllerRevision, made) };
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const found = await live.find(ControllerRevision, keyOf(made));
    if (found && isControlledBy(found, object) && sameJson(found.data, data)) return { revision: found };
    return { collided: true };
  }
}

/** templateOf returns the template that a revision holds. */
export function templateOf({ data }: ControllerRevision): PodTemplateSpec | undefined {
  // Only revisions that `dataOf` created get here: revisions of other owners are not used.
  const { spec } = (data ?? {}) as { spec?: { template?: PodTemplateSpec & { $patch?: string } } };
  if (!spec?.template) return undefined;
  const { $patch: _, ...template } = spec.template;
  return template;
}

/** expiredRevisions returns the oldest of the unused revisions: those beyond the history limit. */
export function expiredRevisions(
  unused: readonly ControllerRevision[],
  limit = DEFAULT_HISTORY_LIMIT,
): readonly ControllerRevision[] {
  return unused.toSorted((a, b) => a.revision - b.revision).slice(0, Math.max(0, unused.length - limit));
}

/** A patch that replaces the template as a whole: what `kubectl rollout undo` sends. */
function dataOf(template: PodTemplateSpec): object {
  return { spec: { template: { ...template, $patch: 'replace' } } };
}
