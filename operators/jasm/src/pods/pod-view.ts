import { isDeepStrictEqual } from 'node:util';
import type { ObjectMeta } from '@bowline/kubernetes';
import { parseTime } from '@bowline/machinery';
import { changed, projectMetadata } from '@bowline/runtime';
import type { MetadataObject } from '@bowline/runtime/cache';
import { POD_ANNOTATIONS, RESTARTED_FOR } from '../api/names.ts';
import { type Workload, workloadOf } from './workload.ts';

/** PodView is the part of a pod that the cache keeps. Pods that request no secrets are not kept. */
export interface PodView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Milliseconds since the epoch, by the API server's clock, in whole seconds. */
  readonly createdAt: number;
  readonly isTerminating: boolean;
  readonly workload: Workload;
  /** The text of the annotation `secret-sync`. */
  readonly annotation: string;
  readonly forceSync: string | undefined;
  /** The restart annotations, by name. A pod inherits them from the template that it was created from. */
  readonly restartedFor: Readonly<Record<string, string>>;
}

/** podView is the projection used by the cache; see `viewOfPod`. Status is never transferred. */
export const podView = projectMetadata(viewOfPod);

/** podChanged passes updates that change a PodView. A pod's status, above all, changes often and is irrelevant here. */
export const podChanged = changed((before: PodView, after: PodView) => !isDeepStrictEqual(before, after));

/** viewOfPod returns the part of a pod that the cache keeps, or undefined for a pod that requests no secrets. */
export function viewOfPod({ metadata }: MetadataObject): PodView | undefined {
  const { namespace = '', name = '', uid = '', annotations = {}, creationTimestamp, deletionTimestamp } = metadata;
  const annotation = annotations[POD_ANNOTATIONS.secretSync];
  if (annotation === undefined) return undefined;
  return {
    namespace,
    name,
    uid,
    createdAt: creationTimestamp === undefined ? 0 : parseTime(creationTimestamp),
    isTerminating: deletionTimestamp !== undefined,
    workload: workloadOf(metadata),
    annotation,
    forceSync: annotations[POD_ANNOTATIONS.forceSync],
    restartedFor: restartsOf(annotations),
  };
}

/** referenceTo returns the reference to a pod that events use. */
export function referenceTo({ namespace, name, uid }: PodView) {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, uid } } as const;
}

/** Most pods have no restart annotations: they share this object. */
const NO_RESTARTS: PodView['restartedFor'] = Object.freeze({});

function restartsOf(annotations: NonNullable<ObjectMeta['annotations']>): PodView['restartedFor'] {
  const restarts = Object.entries(annotations).filter(([name]) => name.startsWith(RESTARTED_FOR));
  return restarts.length === 0 ? NO_RESTARTS : Object.fromEntries(restarts);
}
