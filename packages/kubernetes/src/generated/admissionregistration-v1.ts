// Generated from openapi/admissionregistration-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { Condition, LabelSelector, ListMeta, ObjectMeta } from './meta-v1.ts';

export interface AuditAnnotation {
  readonly key: string;
  readonly valueExpression: string;
}

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

export interface MatchCondition {
  readonly expression: string;
  readonly name: string;
}

export interface MatchResources {
  readonly excludeResourceRules?: readonly NamedRuleWithOperations[] | undefined;
  readonly matchPolicy?: 'Equivalent' | 'Exact' | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  readonly resourceRules?: readonly NamedRuleWithOperations[] | undefined;
}

export interface MutatingWebhook {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchPolicy?: 'Equivalent' | 'Exact' | undefined;
  readonly name: string;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  readonly reinvocationPolicy?: 'IfNeeded' | 'Never' | undefined;
  readonly rules?: readonly RuleWithOperations[] | undefined;
  readonly sideEffects: 'None' | 'NoneOnDryRun' | 'Some' | 'Unknown';
  readonly timeoutSeconds?: number | undefined;
}

export interface MutatingWebhookConfiguration {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly webhooks?: readonly MutatingWebhook[] | undefined;
}

export const MutatingWebhookConfiguration: Resource<MutatingWebhookConfiguration, 'MutatingWebhookConfiguration.v1.admissionregistration.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'admissionregistration.k8s.io', version: 'v1', kind: 'MutatingWebhookConfiguration', plural: 'mutatingwebhookconfigurations', scope: 'Cluster' });

export interface MutatingWebhookConfigurationList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly MutatingWebhookConfiguration[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface NamedRuleWithOperations {
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly operations?: readonly ('*' | 'CONNECT' | 'CREATE' | 'DELETE' | 'UPDATE')[] | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly scope?: '*' | 'Cluster' | 'Namespaced' | undefined;
}

export interface ParamKind {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
}

export interface ParamRef {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly parameterNotFoundAction?: string | undefined;
  readonly selector?: LabelSelector | undefined;
}

export interface RuleWithOperations {
  readonly apiGroups?: readonly string[] | undefined;
  readonly apiVersions?: readonly string[] | undefined;
  readonly operations?: readonly ('*' | 'CONNECT' | 'CREATE' | 'DELETE' | 'UPDATE')[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly scope?: '*' | 'Cluster' | 'Namespaced' | undefined;
}

export interface ServiceReference {
  readonly name: string;
  readonly namespace: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

export interface TypeChecking {
  readonly expressionWarnings?: readonly ExpressionWarning[] | undefined;
}

export interface ValidatingAdmissionPolicy {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: ValidatingAdmissionPolicySpec | undefined;
  readonly status?: ValidatingAdmissionPolicyStatus | undefined;
}

export const ValidatingAdmissionPolicy: Resource<ValidatingAdmissionPolicy, 'ValidatingAdmissionPolicy.v1.admissionregistration.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies', scope: 'Cluster' });

export interface ValidatingAdmissionPolicyBinding {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: ValidatingAdmissionPolicyBindingSpec | undefined;
}

export const ValidatingAdmissionPolicyBinding: Resource<ValidatingAdmissionPolicyBinding, 'ValidatingAdmissionPolicyBinding.v1.admissionregistration.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings', scope: 'Cluster' });

export interface ValidatingAdmissionPolicyBindingList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ValidatingAdmissionPolicyBinding[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface ValidatingAdmissionPolicyBindingSpec {
  readonly matchResources?: MatchResources | undefined;
  readonly paramRef?: ParamRef | undefined;
  readonly policyName?: string | undefined;
  readonly validationActions?: readonly ('Audit' | 'Deny' | 'Warn')[] | undefined;
}

export interface ValidatingAdmissionPolicyList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ValidatingAdmissionPolicy[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface ValidatingAdmissionPolicySpec {
  readonly auditAnnotations?: readonly AuditAnnotation[] | undefined;
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchConstraints?: MatchResources | undefined;
  readonly paramKind?: ParamKind | undefined;
  readonly validations?: readonly Validation[] | undefined;
  readonly variables?: readonly Variable[] | undefined;
}

export interface ValidatingAdmissionPolicyStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly observedGeneration?: number | undefined;
  readonly typeChecking?: TypeChecking | undefined;
}

export interface ValidatingWebhook {
  readonly admissionReviewVersions: readonly string[];
  readonly clientConfig: WebhookClientConfig;
  readonly failurePolicy?: 'Fail' | 'Ignore' | undefined;
  readonly matchConditions?: readonly MatchCondition[] | undefined;
  readonly matchPolicy?: 'Equivalent' | 'Exact' | undefined;
  readonly name: string;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly objectSelector?: LabelSelector | undefined;
  readonly rules?: readonly RuleWithOperations[] | undefined;
  readonly sideEffects: 'None' | 'NoneOnDryRun' | 'Some' | 'Unknown';
  readonly timeoutSeconds?: number | undefined;
}

export interface ValidatingWebhookConfiguration {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly webhooks?: readonly ValidatingWebhook[] | undefined;
}

export const ValidatingWebhookConfiguration: Resource<ValidatingWebhookConfiguration, 'ValidatingWebhookConfiguration.v1.admissionregistration.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'admissionregistration.k8s.io', version: 'v1', kind: 'ValidatingWebhookConfiguration', plural: 'validatingwebhookconfigurations', scope: 'Cluster' });

export interface ValidatingWebhookConfigurationList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly ValidatingWebhookConfiguration[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface Validation {
  readonly expression: string;
  readonly message?: string | undefined;
  readonly messageExpression?: string | undefined;
  readonly reason?: string | undefined;
}

export interface Variable {
  readonly expression: string;
  readonly name: string;
}

export interface WebhookClientConfig {
  readonly caBundle?: string | undefined;
  readonly service?: ServiceReference | undefined;
  readonly url?: string | undefined;
}
