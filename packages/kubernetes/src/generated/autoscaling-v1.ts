// Generated from openapi/autoscaling-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface CrossVersionObjectReference {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly name: string;
}

export interface HorizontalPodAutoscaler {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: HorizontalPodAutoscalerSpec | undefined;
  readonly status?: HorizontalPodAutoscalerStatus | undefined;
}

export const HorizontalPodAutoscaler: Resource<HorizontalPodAutoscaler, 'HorizontalPodAutoscaler.v1.autoscaling'> = /* @__PURE__ */ describeResource({ group: 'autoscaling', version: 'v1', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', scope: 'Namespaced' });

export interface HorizontalPodAutoscalerList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly HorizontalPodAutoscaler[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface HorizontalPodAutoscalerSpec {
  readonly maxReplicas: number;
  readonly minReplicas?: number | undefined;
  readonly scaleTargetRef: CrossVersionObjectReference;
  readonly targetCPUUtilizationPercentage?: number | undefined;
}

export interface HorizontalPodAutoscalerStatus {
  readonly currentCPUUtilizationPercentage?: number | undefined;
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

export interface Scale {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: ScaleSpec | undefined;
  readonly status?: ScaleStatus | undefined;
}

export interface ScaleSpec {
  readonly replicas?: number | undefined;
}

export interface ScaleStatus {
  readonly replicas: number;
  readonly selector?: string | undefined;
}
