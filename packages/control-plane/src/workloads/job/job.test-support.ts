import type { Job, Pod } from '@bowline/kubernetes';
import { type PodTraits, podWith } from '../pods/pod.test-support.ts';
import { TRACKING_FINALIZER } from './job-pods.ts';

/** JobSpec holds the fields of a spec that a test sets. */
export type JobSpec = Partial<NonNullable<Job['spec']>>;

/** jobWith builds a Job with three completions, two at a time. */
export function jobWith(spec: JobSpec = {}, status: NonNullable<Job['status']> = {}): Job {
  return {
    metadata: { name: 'work' },
    spec: { template: {}, completions: 3, parallelism: 2, ...spec },
    status,
  };
}

/** trackedPod builds a Pod that no status has counted yet. */
export function trackedPod(name: string, phase: PodTraits['phase'], more: Partial<PodTraits> = {}): Pod {
  return podWith({ name, phase: phase ?? 'Running', finalizers: [TRACKING_FINALIZER], ...more });
}
