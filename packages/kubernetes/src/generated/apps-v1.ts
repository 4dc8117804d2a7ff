// Generated from openapi/apps-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { PersistentVolumeClaim, PodTemplateSpec } from './core-v1.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface ControllerRevision {
  readonly apiVersion?: string | undefined;
  readonly data?: unknown;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly revision: number;
}

export const ControllerRevision: Resource<ControllerRevision, 'ControllerRevision.v1.apps'> = /* @__PURE__ */ describeResource({ group: 'apps', version: 'v1', kind: 'ControllerRevision', plural: 'controllerrevisions', scope: 'Namespaced' });

export interface ControllerRevisionList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ControllerRevision[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface DaemonSet {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: DaemonSetSpec | undefined;
  readonly status?: DaemonSetStatus | undefined;
}

export const DaemonSet: Resource<DaemonSet, 'DaemonSet.v1.apps'> = /* @__PURE__ */ describeResource({ group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets', scope: 'Namespaced' });

export interface DaemonSetCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface DaemonSetList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly DaemonSet[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface DaemonSetSpec {
  readonly minReadySeconds?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector: LabelSelector;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: DaemonSetUpdateStrategy | undefined;
}

export interface DaemonSetStatus {
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly DaemonSetCondition[] | undefined;
  readonly currentNumberScheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberAvailable?: number | undefined;
  readonly numberMisscheduled: number;
  readonly numberReady: number;
  readonly numberUnavailable?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly updatedNumberScheduled?: number | undefined;
}

export interface DaemonSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateDaemonSet | undefined;
  readonly type?: 'OnDelete' | 'RollingUpdate' | undefined;
}

export interface Deployment {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: DeploymentSpec | undefined;
  readonly status?: DeploymentStatus | undefined;
}

export const Deployment: Resource<Deployment, 'Deployment.v1.apps'> = /* @__PURE__ */ describeResource({ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', scope: 'Namespaced' });

export interface DeploymentCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly lastUpdateTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface DeploymentList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly Deployment[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface DeploymentSpec {
  readonly minReadySeconds?: number | undefined;
  readonly paused?: boolean | undefined;
  readonly progressDeadlineSeconds?: number | undefined;
  readonly replicas?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector: LabelSelector;
  readonly strategy?: DeploymentStrategy | undefined;
  readonly template: PodTemplateSpec;
}

export interface DeploymentStatus {
  readonly availableReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly DeploymentCondition[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas?: number | undefined;
  readonly terminatingReplicas?: number | undefined;
  readonly unavailableReplicas?: number | undefined;
  readonly updatedReplicas?: number | undefined;
}

export interface DeploymentStrategy {
  readonly rollingUpdate?: RollingUpdateDeployment | undefined;
  readonly type?: 'Recreate' | 'RollingUpdate' | undefined;
}

export interface ReplicaSet {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: ReplicaSetSpec | undefined;
  readonly status?: ReplicaSetStatus | undefined;
}

export const ReplicaSet: Resource<ReplicaSet, 'ReplicaSet.v1.apps'> = /* @__PURE__ */ describeResource({ group: 'apps', version: 'v1', kind: 'ReplicaSet', plural: 'replicasets', scope: 'Namespaced' });

export interface ReplicaSetCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface ReplicaSetList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ReplicaSet[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface ReplicaSetSpec {
  readonly minReadySeconds?: number | undefined;
  readonly replicas?: number | undefined;
  readonly selector: LabelSelector;
  readonly template?: PodTemplateSpec | undefined;
}

export interface ReplicaSetStatus {
  readonly availableReplicas?: number | undefined;
  readonly conditions?: readonly ReplicaSetCondition[] | undefined;
  readonly fullyLabeledReplicas?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas: number;
  readonly terminatingReplicas?: number | undefined;
}

export interface RollingUpdateDaemonSet {
  readonly maxSurge?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

export interface RollingUpdateDeployment {
  readonly maxSurge?: number | string | undefined;
  readonly maxUnavailable?: number | string | undefined;
}

export interface RollingUpdateStatefulSetStrategy {
  readonly maxUnavailable?: number | string | undefined;
  readonly partition?: number | undefined;
}

export interface StatefulSet {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: StatefulSetSpec | undefined;
  readonly status?: StatefulSetStatus | undefined;
}

export const StatefulSet: Resource<StatefulSet, 'StatefulSet.v1.apps'> = /* @__PURE__ */ describeResource({ group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', scope: 'Namespaced' });

export interface StatefulSetCondition {
  readonly lastTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface StatefulSetList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly StatefulSet[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface StatefulSetOrdinals {
  readonly start?: number | undefined;
}

export interface StatefulSetPersistentVolumeClaimRetentionPolicy {
  readonly whenDeleted?: string | undefined;
  readonly whenScaled?: string | undefined;
}

export interface StatefulSetSpec {
  readonly minReadySeconds?: number | undefined;
  readonly ordinals?: StatefulSetOrdinals | undefined;
  readonly persistentVolumeClaimRetentionPolicy?: StatefulSetPersistentVolumeClaimRetentionPolicy | undefined;
  readonly podManagementPolicy?: 'OrderedReady' | 'Parallel' | undefined;
  readonly replicas?: number | undefined;
  readonly revisionHistoryLimit?: number | undefined;
  readonly selector: LabelSelector;
  readonly serviceName?: string | undefined;
  readonly template: PodTemplateSpec;
  readonly updateStrategy?: StatefulSetUpdateStrategy | undefined;
  readonly volumeClaimTemplates?: readonly PersistentVolumeClaim[] | undefined;
}

export interface StatefulSetStatus {
  readonly availableReplicas?: number | undefined;
  readonly collisionCount?: number | undefined;
  readonly conditions?: readonly StatefulSetCondition[] | undefined;
  readonly currentReplicas?: number | undefined;
  readonly currentRevision?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas: number;
  readonly updateRevision?: string | undefined;
  readonly updatedReplicas?: number | undefined;
}

export interface StatefulSetUpdateStrategy {
  readonly rollingUpdate?: RollingUpdateStatefulSetStrategy | undefined;
  readonly type?: 'OnDelete' | 'RollingUpdate' | undefined;
}
