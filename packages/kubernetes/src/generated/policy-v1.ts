// Generated from openapi/policy-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { Condition, DeleteOptions, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Eviction {
  readonly apiVersion?: string | undefined;
  readonly deleteOptions?: DeleteOptions | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
}

export interface PodDisruptionBudget {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: PodDisruptionBudgetSpec | undefined;
  readonly status?: PodDisruptionBudgetStatus | undefined;
}

export const PodDisruptionBudget: Resource<PodDisruptionBudget, 'PodDisruptionBudget.v1.policy'> = /* @__PURE__ */ describeResource({ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', scope: 'Namespaced' });

export interface PodDisruptionBudgetList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly PodDisruptionBudget[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface PodDisruptionBudgetSpec {
  readonly maxUnavailable?: number | string | undefined;
  readonly minAvailable?: number | string | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly unhealthyPodEvictionPolicy?: 'AlwaysAllow' | 'IfHealthyBudget' | undefined;
}

export interface PodDisruptionBudgetStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptedPods?: { readonly [key: string]: string } | undefined;
  readonly disruptionsAllowed: number;
  readonly expectedPods: number;
  readonly observedGeneration?: number | undefined;
}
