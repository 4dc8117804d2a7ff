import { createHmac } from 'node:crypto';
import { DaemonSet, Deployment, type KubernetesObject, type Resource, StatefulSet } from '@bowline/kubernetes';
import { shortName } from '@bowline/machinery';
import type { LiveClient } from '@bowline/runtime';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import type { Asker } from '../pods/askers.ts';
import type { Workload } from '../pods/workload.ts';
import type { SecretView } from './secret-view.ts';
import { FIELD_MANAGER } from './write-secret.ts';

/** What has a pod template that we know how to change. */
interface Templated extends KubernetesObject {
  readonly spec?: { readonly template?: KubernetesObject | undefined } | undefined;
}

/** RESTARTABLE are the kinds that can be restarted, by name. All are in the group `apps`. */
export const RESTARTABLE: Readonly<Record<string, Resource<Templated>>> = { Deployment, StatefulSet, DaemonSet };

/** RestartWish is who says whether workloads are restarted when a Secret of theirs changes. The first that says it counts. */
export interface RestartWish {
  /** The entry of the pod's annotation. */
  readonly entry: boolean | undefined;
  /** The annotation of the namespace. */
  readonly namespace: string | undefined;
  readonly operator: boolean;
}

/** wantsRestart decides between them. */
export function wantsRestart({ entry, namespace, operator }: RestartWish): boolean {
  if (entry !== undefined) return entry;
  if (namespace === 'true' || namespace === 'false') return namespace === 'true';
  return operator;
}

/** RestartMark is the annotation that a pod template gets for one content of a Secret. */
export interface RestartMark {
  readonly annotation: string;
  readonly value: string;
}

/** What is left of the 63 characters that the name of an annotation has after its slash. */
const LONGEST_NAME = 63 - (RESTARTED_FOR.length - RESTARTED_FOR.indexOf('/') - 1);

/**
 * restartMark is the mark for the content that a Secret has now; undefined when nobody has to be restarted for it. Who may read
 * workloads but not Secrets must not be able to try values until a hash fits, so the Secret's uid, which they cannot see, is the key.
 */
export function restartMark({ name, uid, marks }: Pick<SecretView, 'name' | 'uid' | 'marks'>): RestartMark | undefined {
  const { restartFor, dataHash } = marks;
  if (restartFor === undefined || restartFor !== dataHash) return undefined;
  const value = createHmac('sha256', uid).update(dataHash).digest('hex').slice(0, 16);
  return { annotation: `${RESTARTED_FOR}${shortName(name, LONGEST_NAME)}`, value };
}

/**
 * Pods have the API server's time and contents ours, and neither is exact: one restart too many does less harm than a pod that keeps
 * the old content.
 */
const CLOCK_SKEW_MS = 60_000;

/** needsRestart is whether an asker has pods that were made before the content that the Secret has now, and were not restarted for it. */
export function needsRestart(
  { workload, pods }: Asker,
  { annotation, value }: RestartMark,
  { marks }: SecretView,
): boolean {
  if (workload.group !== 'apps' || !Object.hasOwn(RESTARTABLE, workload.kind)) return false;
  const since = Date.parse(marks.syncedAt ?? '') + CLOCK_SKEW_MS;
  return pods.some(({ pod }) => pod.restartedFor[annotation] !== value && pod.createdAt <= since);
}

/**
 * restart changes the pod template of a workload, unless it is so already, and answers whether it did. Whose a pod is the pod itself
 * says, and who may create pods may write anything there: `asks` is whether what the template asks is a reason to restart.
 */
export async function restart(
  client: Pick<LiveClient, 'find' | 'patch'>,
  namespace: string,
  { kind, name }: Workload,
  { annotation, value }: RestartMark,
  asks: (annotation: string) => boolean,
): Promise<boolean> {
  const resource = RESTARTABLE[kind];
  if (!resource) return false;
  const found = await client.find(resource, { namespace, name });
  const { [annotation]: marked, [POD_ANNOTATIONS.secretSync]: asked = '' } =
    found?.spec?.template?.metadata?.annotations ?? {};
  // Gone, or marked before this process began.
  if (!found || marked === value || !asks(asked)) return false;
  const { uid, resourceVersion } = found.metadata ?? {};
  const body = {
    metadata: { uid, resourceVersion },
    spec: { template: { metadata: { annotations: { [annotation]: value } } } },
  };
  await client.patch(resource, { namespace, name }, { type: 'merge', body }, { fieldManager: FIELD_MANAGER });
  return true;
}
