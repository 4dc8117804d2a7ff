// Generated from openapi/rbac-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface AggregationRule {
  readonly clusterRoleSelectors?: readonly LabelSelector[] | undefined;
}

export interface ClusterRole {
  readonly aggregationRule?: AggregationRule | undefined;
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly rules?: readonly PolicyRule[] | undefined;
}

export const ClusterRole: Resource<ClusterRole, 'ClusterRole.v1.rbac.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRole', plural: 'clusterroles', scope: 'Cluster' });

export interface ClusterRoleBinding {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | undefined;
}

export const ClusterRoleBinding: Resource<ClusterRoleBinding, 'ClusterRoleBinding.v1.rbac.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', scope: 'Cluster' });

export interface ClusterRoleBindingList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ClusterRoleBinding[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface ClusterRoleList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ClusterRole[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface PolicyRule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly nonResourceURLs?: readonly string[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

export interface Role {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly rules?: readonly PolicyRule[] | undefined;
}

export const Role: Resource<Role, 'Role.v1.rbac.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'Role', plural: 'roles', scope: 'Namespaced' });

export interface RoleBinding {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly roleRef: RoleRef;
  readonly subjects?: readonly Subject[] | undefined;
}

export const RoleBinding: Resource<RoleBinding, 'RoleBinding.v1.rbac.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'RoleBinding', plural: 'rolebindings', scope: 'Namespaced' });

export interface RoleBindingList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly RoleBinding[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface RoleList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly Role[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

export interface Subject {
  readonly apiGroup?: string | undefined;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}
