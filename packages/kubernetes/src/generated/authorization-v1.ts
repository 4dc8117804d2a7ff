// Generated from openapi/authorization-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { FieldSelectorRequirement, LabelSelectorRequirement, ObjectMeta } from './meta-v1.ts';

export interface FieldSelectorAttributes {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly FieldSelectorRequirement[] | undefined;
}

export interface LabelSelectorAttributes {
  readonly rawSelector?: string | undefined;
  readonly requirements?: readonly LabelSelectorRequirement[] | undefined;
}

export interface LocalSubjectAccessReview {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus | undefined;
}

export const LocalSubjectAccessReview: Resource<LocalSubjectAccessReview, 'LocalSubjectAccessReview.v1.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'authorization.k8s.io', version: 'v1', kind: 'LocalSubjectAccessReview', plural: 'localsubjectaccessreviews', scope: 'Namespaced' });

export interface NonResourceAttributes {
  readonly path?: string | undefined;
  readonly verb?: string | undefined;
}

export interface NonResourceRule {
  readonly nonResourceURLs?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

export interface ResourceAttributes {
  readonly fieldSelector?: FieldSelectorAttributes | undefined;
  readonly group?: string | undefined;
  readonly labelSelector?: LabelSelectorAttributes | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  readonly verb?: string | undefined;
  readonly version?: string | undefined;
}

export interface ResourceRule {
  readonly apiGroups?: readonly string[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly verbs: readonly string[];
}

export interface SelfSubjectAccessReview {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: SelfSubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus | undefined;
}

export const SelfSubjectAccessReview: Resource<SelfSubjectAccessReview, 'SelfSubjectAccessReview.v1.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectAccessReview', plural: 'selfsubjectaccessreviews', scope: 'Cluster' });

export interface SelfSubjectAccessReviewSpec {
  readonly nonResourceAttributes?: NonResourceAttributes | undefined;
  readonly resourceAttributes?: ResourceAttributes | undefined;
}

export interface SelfSubjectRulesReview {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: SelfSubjectRulesReviewSpec;
  readonly status?: SubjectRulesReviewStatus | undefined;
}

export const SelfSubjectRulesReview: Resource<SelfSubjectRulesReview, 'SelfSubjectRulesReview.v1.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'authorization.k8s.io', version: 'v1', kind: 'SelfSubjectRulesReview', plural: 'selfsubjectrulesreviews', scope: 'Cluster' });

export interface SelfSubjectRulesReviewSpec {
  readonly namespace?: string | undefined;
}

export interface SubjectAccessReview {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec: SubjectAccessReviewSpec;
  readonly status?: SubjectAccessReviewStatus | undefined;
}

export const SubjectAccessReview: Resource<SubjectAccessReview, 'SubjectAccessReview.v1.authorization.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'authorization.k8s.io', version: 'v1', kind: 'SubjectAccessReview', plural: 'subjectaccessreviews', scope: 'Cluster' });

export interface SubjectAccessReviewSpec {
  readonly extra?: { readonly [key: string]: readonly string[] } | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly nonResourceAttributes?: NonResourceAttributes | undefined;
  readonly resourceAttributes?: ResourceAttributes | undefined;
  readonly uid?: string | undefined;
  readonly user?: string | undefined;
}

export interface SubjectAccessReviewStatus {
  readonly allowed: boolean;
  readonly denied?: boolean | undefined;
  readonly evaluationError?: string | undefined;
  readonly reason?: string | undefined;
}

export interface SubjectRulesReviewStatus {
  readonly evaluationError?: string | undefined;
  readonly incomplete: boolean;
  readonly nonResourceRules: readonly NonResourceRule[];
  readonly resourceRules: readonly ResourceRule[];
}
