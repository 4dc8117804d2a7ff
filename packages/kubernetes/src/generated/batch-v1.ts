// Generated from openapi/batch-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ObjectReference, PodTemplateSpec } from './core-v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CronJob {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: CronJobSpec | undefined;
  readonly status?: CronJobStatus | undefined;
}

export const CronJob: Resource<CronJob, 'CronJob.v1.batch'> = /* @__PURE__ */ describeResource({ group: 'batch', version: 'v1', kind: 'CronJob', plural: 'cronjobs', scope: 'Namespaced' });

export interface CronJobList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly CronJob[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface CronJobSpec {
  readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace' | undefined;
  readonly failedJobsHistoryLimit?: number | undefined;
  readonly jobTemplate: JobTemplateSpec;
  readonly schedule: string;
  readonly startingDeadlineSeconds?: number | undefined;
  readonly successfulJobsHistoryLimit?: number | undefined;
  readonly suspend?: boolean | undefined;
  readonly timeZone?: string | undefined;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[] | undefined;
  readonly lastScheduleTime?: string | undefined;
  readonly lastSuccessfulTime?: string | undefined;
}

export interface Job {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: JobSpec | undefined;
  readonly status?: JobStatus | undefined;
}

export const Job: Resource<Job, 'Job.v1.batch'> = /* @__PURE__ */ describeResource({ group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', scope: 'Namespaced' });

export interface JobCondition {
  readonly lastProbeTime?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface JobList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly Job[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface JobSpec {
  readonly activeDeadlineSeconds?: number | undefined;
  readonly backoffLimit?: number | undefined;
  readonly backoffLimitPerIndex?: number | undefined;
  readonly completionMode?: 'Indexed' | 'NonIndexed' | undefined;
  readonly completions?: number | undefined;
  readonly managedBy?: string | undefined;
  readonly manualSelector?: boolean | undefined;
  readonly maxFailedIndexes?: number | undefined;
  readonly parallelism?: number | undefined;
  readonly podFailurePolicy?: PodFailurePolicy | undefined;
  readonly podReplacementPolicy?: 'Failed' | 'TerminatingOrFailed' | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly successPolicy?: SuccessPolicy | undefined;
  readonly suspend?: boolean | undefined;
  readonly template: PodTemplateSpec;
  readonly ttlSecondsAfterFinished?: number | undefined;
}

export interface JobStatus {
  readonly active?: number | undefined;
  readonly completedIndexes?: string | undefined;
  readonly completionTime?: string | undefined;
  readonly conditions?: readonly JobCondition[] | undefined;
  readonly failed?: number | undefined;
  readonly failedIndexes?: string | undefined;
  readonly ready?: number | undefined;
  readonly startTime?: string | undefined;
  readonly succeeded?: number | undefined;
  readonly terminating?: number | undefined;
  readonly uncountedTerminatedPods?: UncountedTerminatedPods | undefined;
}

export interface JobTemplateSpec {
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: JobSpec | undefined;
}

export interface PodFailurePolicy {
  readonly rules: readonly PodFailurePolicyRule[];
}

export interface PodFailurePolicyOnExitCodesRequirement {
  readonly containerName?: string | undefined;
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly number[];
}

export interface PodFailurePolicyOnPodConditionsPattern {
  readonly status?: string | undefined;
  readonly type: string;
}

export interface PodFailurePolicyRule {
  readonly action: 'Count' | 'FailIndex' | 'FailJob' | 'Ignore';
  readonly onExitCodes?: PodFailurePolicyOnExitCodesRequirement | undefined;
  readonly onPodConditions?: readonly PodFailurePolicyOnPodConditionsPattern[] | undefined;
}

export interface SuccessPolicy {
  readonly rules: readonly SuccessPolicyRule[];
}

export interface SuccessPolicyRule {
  readonly succeededCount?: number | undefined;
  readonly succeededIndexes?: string | undefined;
}

export interface UncountedTerminatedPods {
  readonly failed?: readonly string[] | undefined;
  readonly succeeded?: readonly string[] | undefined;
}
