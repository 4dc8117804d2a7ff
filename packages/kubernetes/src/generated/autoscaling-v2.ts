// Generated from openapi/autoscaling-v2.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface ContainerResourceMetricSource {
  readonly container: string;
  readonly name: string;
  readonly target: MetricTarget;
}

export interface ContainerResourceMetricStatus {
  readonly container: string;
  readonly current: MetricValueStatus;
  readonly name: string;
}

export interface CrossVersionObjectReference {
  readonly apiVersion?: string | undefined;
  readonly kind: string;
  readonly name: string;
}

export interface ExternalMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ExternalMetricStatus {
  readonly current: MetricValueStatus;
  readonly metric: MetricIdentifier;
}

export interface HPAScalingPolicy {
  readonly periodSeconds: number;
  readonly type: string;
  readonly value: number;
}

export interface HPAScalingRules {
  readonly policies?: readonly HPAScalingPolicy[] | undefined;
  readonly selectPolicy?: string | undefined;
  readonly stabilizationWindowSeconds?: number | undefined;
  readonly tolerance?: string | undefined;
}

export interface HorizontalPodAutoscaler {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: HorizontalPodAutoscalerSpec | undefined;
  readonly status?: HorizontalPodAutoscalerStatus | undefined;
}

export const HorizontalPodAutoscaler: Resource<HorizontalPodAutoscaler, 'HorizontalPodAutoscaler.v2.autoscaling'> = /* @__PURE__ */ describeResource({ group: 'autoscaling', version: 'v2', kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers', scope: 'Namespaced' });

export interface HorizontalPodAutoscalerBehavior {
  readonly scaleDown?: HPAScalingRules | undefined;
  readonly scaleUp?: HPAScalingRules | undefined;
}

export interface HorizontalPodAutoscalerCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface HorizontalPodAutoscalerList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly HorizontalPodAutoscaler[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface HorizontalPodAutoscalerSpec {
  readonly behavior?: HorizontalPodAutoscalerBehavior | undefined;
  readonly maxReplicas: number;
  readonly metrics?: readonly MetricSpec[] | undefined;
  readonly minReplicas?: number | undefined;
  readonly scaleTargetRef: CrossVersionObjectReference;
}

export interface HorizontalPodAutoscalerStatus {
  readonly conditions?: readonly HorizontalPodAutoscalerCondition[] | undefined;
  readonly currentMetrics?: readonly MetricStatus[] | undefined;
  readonly currentReplicas?: number | undefined;
  readonly desiredReplicas: number;
  readonly lastScaleTime?: string | undefined;
  readonly observedGeneration?: number | undefined;
}

export interface MetricIdentifier {
  readonly name: string;
  readonly selector?: LabelSelector | undefined;
}

export interface MetricSpec {
  readonly containerResource?: ContainerResourceMetricSource | undefined;
  readonly external?: ExternalMetricSource | undefined;
  readonly object?: ObjectMetricSource | undefined;
  readonly pods?: PodsMetricSource | undefined;
  readonly resource?: ResourceMetricSource | undefined;
  readonly type: string;
}

export interface MetricStatus {
  readonly containerResource?: ContainerResourceMetricStatus | undefined;
  readonly external?: ExternalMetricStatus | undefined;
  readonly object?: ObjectMetricStatus | undefined;
  readonly pods?: PodsMetricStatus | undefined;
  readonly resource?: ResourceMetricStatus | undefined;
  readonly type: string;
}

export interface MetricTarget {
  readonly averageUtilization?: number | undefined;
  readonly averageValue?: string | undefined;
  readonly type: string;
  readonly value?: string | undefined;
}

export interface MetricValueStatus {
  readonly averageUtilization?: number | undefined;
  readonly averageValue?: string | undefined;
  readonly value?: string | undefined;
}

export interface ObjectMetricSource {
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface ObjectMetricStatus {
  readonly current: MetricValueStatus;
  readonly describedObject: CrossVersionObjectReference;
  readonly metric: MetricIdentifier;
}

export interface PodsMetricSource {
  readonly metric: MetricIdentifier;
  readonly target: MetricTarget;
}

export interface PodsMetricStatus {
  readonly current: MetricValueStatus;
  readonly metric: MetricIdentifier;
}

export interface ResourceMetricSource {
  readonly name: string;
  readonly target: MetricTarget;
}

export interface ResourceMetricStatus {
  readonly current: MetricValueStatus;
  readonly name: string;
}
