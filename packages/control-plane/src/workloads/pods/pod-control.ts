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

/** PodOwner is the workload that creates and deletes Pods. */
export interface PodOwner {
  /** The controller's name in events. */
  readonly controller: string;
  readonly resource: Resource;
  readonly object: KubernetesObject;
  readonly events: WorkloadEvents;
  /**
   * Formats the note of the event that a Pod was created or deleted, or why that failed. Defaults to the notes of most
   * controllers.
   */
  readonly noteOf?: ((verb: 'Create' | 'Delete', pod: string, error?: string) => string) | undefined;
}

/** podFrom builds a Pod from a workload's template. */
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

/** createPod creates a Pod and records an event about the success or failure. */
export async function createPod(live: LiveClient, owner: PodOwner, pod: Pod): Promise<Pod> {
  const { controller, resource, object, events, noteOf = defaultNote } = owner;
  try {
    const created = await live.create(Pod, pod);
    const note = noteOf('Create', created.metadata?.name ?? '');
    events.record(controller, resource, object, { type: 'Normal', reason: 'SuccessfulCreate', note });
    return created;
  } catch (error) {
    const note = noteOf('Create', pod.metadata?.name ?? '', messageOf(error));
    events.record(controller, resource, object, { type: 'Warning', reason: 'FailedCreate', note });
    throw error;
  }
}

/** deletePod deletes a Pod, if its uid still matches, and records an event. */
export async function deletePod(live: LiveClient, owner: PodOwner, pod: Pod): Promise<void> {
  const { controller, resource, object, events, noteOf = defaultNote } = owner;
  const { name = '', uid = '' } = pod.metadata ?? {};
  try {
    await live.delete(Pod, keyOf(pod), { preconditions: { uid } });
  } catch (error) {
    if (isNotFound(error)) return;
    const note = noteOf('Delete', name, messageOf(error));
    events.record(controller, resource, object, { type: 'Warning', reason: 'FailedDelete', note });
    throw error;
  }
  events.record(controller, resource, object, {
    type: 'Normal',
    reason: 'SuccessfulDelete',
    note: noteOf('Delete', name),
  });
}

const defaultNote: NonNullable<PodOwner['noteOf']> = (verb, pod, error) =>
  error === undefined ? `${verb}d pod: ${pod}` : `Error ${verb === 'Create' ? 'creating' : 'deleting'}: ${error}`;

/** messageOf returns the message of an error; for an error from the API server, the server's own message. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.serverMessage;
  return error instanceof Error ? error.message : String(error);
}

/** captureError runs a function and returns its error, for callers that must write a status before they throw it. */
export async function captureError(work: () => Promise<unknown>): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** BURST_REPLICAS bounds how many Pods one reconcile of a workload creates or deletes. */
export const BURST_REPLICAS = 500;

/**
 * inSlowStartBatches calls a function a number of times, in batches of one, two, four and so on: if the first call fails,
 * the others would fail too. It throws the first error of the batch that failed.
 */
export async function inSlowStartBatches(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let done = 0, size = 1; done < count; done += size, size *= 2) {
    const batch = Array.from({ length: Math.min(size, count - done) }, (_, index) => work(done + index));
    const failed = (await Promise.allSettled(batch)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
}
