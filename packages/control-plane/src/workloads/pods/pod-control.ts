import {
  type KubernetesObject,
  keyOf,
  type ObjectMeta,
  Pod,
  type PodTemplateSpec,
  type Resource,
} from '@bowline/kubernetes';
import { ApiError, isNotFound } from '@bowline/runtime/client';
import type { LiveClient } from '@bowline/runtime/controller';
import { ownerReference } from '@bowline/runtime/writing';
import type { WorkloadEvents } from './workload-events.ts';

/** PodOwner is the workload that makes and deletes Pods. */
export interface PodOwner {
  /** The controller's name in events. */
  readonly controller: string;
  readonly resource: Resource;
  readonly object: KubernetesObject;
  readonly events: WorkloadEvents;
  /** Puts into words that a Pod was made or deleted, or why it could not be. Defaults to the words of most controllers. */
  readonly tell?: ((verb: 'Create' | 'Delete', pod: string, error?: string) => string) | undefined;
}

/** podFrom is a Pod as a workload's template wants it. */
export function podFrom(
  template: PodTemplateSpec | undefined,
  { resource, object }: Pick<PodOwner, 'resource' | 'object'>,
  more: Pick<ObjectMeta, 'name' | 'labels' | 'annotations' | 'finalizers'> = {},
): Pod {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  const { name = '', namespace } = object.metadata ?? {};
  return {
    metadata: {
      generateName: `${name}-`,
      ...(more.name === undefined ? {} : { name: more.name }),
      namespace,
      labels: { ...labels, ...more.labels },
      annotations: { ...annotations, ...more.annotations },
      finalizers: [...(finalizers ?? []), ...(more.finalizers ?? [])],
      ownerReferences: [ownerReference({ resource, object })],
    },
    spec: template?.spec ?? { containers: [] },
  };
}

/** createPod makes a Pod and tells people so, or why not. */
export async function createPod(live: LiveClient, owner: PodOwner, pod: Pod): Promise<Pod> {
  const { controller, resource, object, events, tell = tellOf } = owner;
  try {
    const created = await live.create(Pod, pod);
    const note = tell('Create', created.metadata?.name ?? '');
    events.record(controller, resource, object, { type: 'Normal', reason: 'SuccessfulCreate', note });
    return created;
  } catch (error) {
    const note = tell('Create', pod.metadata?.name ?? '', messageOf(error));
    events.record(controller, resource, object, { type: 'Warning', reason: 'FailedCreate', note });
    throw error;
  }
}

/** deletePod deletes a Pod, if it is still that one, and tells people so. */
export async function deletePod(live: LiveClient, owner: PodOwner, pod: Pod): Promise<void> {
  const { controller, resource, object, events, tell = tellOf } = owner;
  const { name = '', uid = '' } = pod.metadata ?? {};
  try {
    await live.delete(Pod, keyOf(pod), { preconditions: { uid } });
  } catch (error) {
    if (isNotFound(error)) return;
    const note = tell('Delete', name, messageOf(error));
    events.record(controller, resource, object, { type: 'Warning', reason: 'FailedDelete', note });
    throw error;
  }
  events.record(controller, resource, object, {
    type: 'Normal',
    reason: 'SuccessfulDelete',
    note: tell('Delete', name),
  });
}

const tellOf: NonNullable<PodOwner['tell']> = (verb, pod, error) =>
  error === undefined ? `${verb}d pod: ${pod}` : `Error ${verb === 'Create' ? 'creating' : 'deleting'}: ${error}`;

/** messageOf is why something failed, in the words of the API server where it was the one that refused. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.serverMessage;
  return error instanceof Error ? error.message : String(error);
}

/** failureOf does something and answers why it failed, for those who have a status to write before they throw it. */
export async function failureOf(work: () => Promise<unknown>): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** MOST_AT_ONCE bounds what one look at a workload creates or deletes. */
export const MOST_AT_ONCE = 500;

/**
 * inGrowingBatches does something a number of times, one at first and then twice as many each time: when the first fails, so
 * would have the others. Throws the first failure of the batch that failed.
 */
export async function inGrowingBatches(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let done = 0, size = 1; done < count; done += size, size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - done) }, (_, index) => work(done + index));
    const failed = (await Promise.allSettled(batch)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
