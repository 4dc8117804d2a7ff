import { type Container, Job, type Pod } from '@bowline/kubernetes';
import { podFrom } from '../pods/pod-control.ts';

/** TRACKING_FINALIZER is the finalizer that keeps a Pod until its Job has counted it. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
/** COMPLETION_INDEX holds the completion index of a Pod of an indexed Job. */
export const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';

/** isTracked reports whether a Pod has not been counted yet. */
export function isTracked({ metadata }: Pod): boolean {
  return metadata?.finalizers?.includes(TRACKING_FINALIZER) ?? false;
}

/** isIndexed reports whether each Pod of a Job has its own completion index. */
export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

/** indexOf returns the completion index of a Pod; undefined if it has none, or one outside the Job's completions. */
export function indexOf({ spec }: Job, { metadata }: Pod): number | undefined {
  const text = metadata?.annotations?.[COMPLETION_INDEX] ?? '';
  const index = /^\d+$/.test(text) ? Number(text) : undefined;
  return index !== undefined && index < (spec?.completions ?? 0) ? index : undefined;
}

/** jobPod returns a Pod of a Job, with a completion index if the Job is indexed. */
export function jobPod(job: Job, index: number | undefined): Pod {
  const owner = { resource: Job, object: job };
  if (index === undefined) return podFrom(job.spec?.template, owner, { finalizers: [TRACKING_FINALIZER] });
  const name = `${job.metadata?.name ?? ''}-${index}`;
  const completionIndex = { [COMPLETION_INDEX]: String(index) };
  const pod = podFrom(job.spec?.template, owner, {
    finalizers: [TRACKING_FINALIZER],
    labels: completionIndex,
    annotations: completionIndex,
  });
  return {
    ...pod,
    metadata: { ...pod.metadata, generateName: `${name}-` },
    spec: {
      ...pod.spec,
      hostname: pod.spec?.hostname ?? name,
      containers: (pod.spec?.containers ?? []).map(withIndex),
      ...(pod.spec?.initContainers ? { initContainers: pod.spec.initContainers.map(withIndex) } : {}),
    },
  };
}

const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

function withIndex(container: Container): Container {
  if (container.env?.some(({ name }) => name === INDEX_VARIABLE)) return container;
  const valueFrom = { fieldRef: { fieldPath: `metadata.labels['${COMPLETION_INDEX}']` } };
  return { ...container, env: [...(container.env ?? []), { name: INDEX_VARIABLE, valueFrom }] };
}

/** endedAtMs returns when a Pod ended, as precisely as it can be known. */
export function endedAtMs({ status, metadata }: Pod): number {
  const times = (status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.finishedAt ?? []);
  const last = times.toSorted().at(-1) ?? metadata?.deletionTimestamp ?? metadata?.creationTimestamp ?? '';
  return Date.parse(last) || 0;
}
