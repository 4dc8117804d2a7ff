// Generated from openapi/scheduling-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface PriorityClass {
  readonly apiVersion?: string | undefined;
  readonly description?: string | undefined;
  readonly globalDefault?: boolean | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly preemptionPolicy?: 'Never' | 'PreemptLowerPriority' | undefined;
  readonly value: number;
}

export const PriorityClass: Resource<PriorityClass, 'PriorityClass.v1.scheduling.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'scheduling.k8s.io', version: 'v1', kind: 'PriorityClass', plural: 'priorityclasses', scope: 'Cluster' });

export interface PriorityClassList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly PriorityClass[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}
