import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import { type Companion, companion } from '@bowline/runtime';
import { GROUP, REPORT_ANNOTATION } from '../api/names.ts';
import { MAX_REPORT_LENGTH } from '../reports/parse-report.ts';
import { REPORT_VERB, SELF_REPORT_VERB } from './discovery-role.ts';
import type { Guard } from './guard-state.ts';
import { policyRules } from './policy-rules.ts';

const POD_UID = 'authentication.kubernetes.io/pod-uid';
const NODE_NAME = 'authentication.kubernetes.io/node-name';

/** mapOf returns an expression for a map in the metadata of an object, empty if the object has none. */
const mapOf = (object: string, field: string): string =>
  `(${object} != null && has(${object}.metadata.${field}) ? ${object}.metadata.${field} : {})`;

/** textIn returns an expression for the value of a key, empty if it is missing. */
const textIn = (map: string, key: string): string => `('${key}' in ${map} ? ${map}['${key}'] : '')`;

/** listOf returns an expression for a list in the metadata of an object, empty if the object has none. */
const listOf = (object: string, field: string): string =>
  `(has(${object}.metadata.${field}) ? ${object}.metadata.${field} : [])`;

const reportOf = (object: string): string => textIn(mapOf(object, 'annotations'), REPORT_ANNOTATION);

/** May the caller use a verb on the HSMPools of the namespace? One check costs about a third of the budget of an expression. */
const mayUse = (verb: string): string =>
  `authorizer.group('${GROUP}').resource('hsmpools').namespace(request.namespace).check('${verb}').allowed()`;

const extra = (key: string): string => `request.userInfo.extra['${key}']`;

/** A Binding has no spec: without `dyn`, the type check of the policy would warn about it. */
const old = 'dyn(oldObject)';

/** The token is bound to the pod that is changed. */
const isFromPodItself = [
  "request.operation == 'UPDATE'",
  'has(request.userInfo.extra)',
  `'${POD_UID}' in request.userInfo.extra`,
  `${extra(POD_UID)} == [${old}.metadata.uid]`,
].join(' && ');

/** Its account is that of the pod, and its node is that of the pod. Older clusters do not add the node to tokens. */
const isFromPodsAccount = [
  `has(${old}.spec.serviceAccountName)`,
  `request.userInfo.username == 'system:serviceaccount:' + request.namespace + ':' + ${old}.spec.serviceAccountName`,
  `(!('${NODE_NAME}' in request.userInfo.extra) || (has(${old}.spec.nodeName) && ${extra(NODE_NAME)} == [${old}.spec.nodeName]))`,
].join(' && ');

const isSame = (expression: (object: string) => string): string =>
  `${expression('object')} == ${expression('oldObject')}`;

/** Whether every annotation of one object but the report is the same in another. */
const keepsAnnotations = (from: string, to: string): string =>
  `${mapOf(from, 'annotations')}.all(key, key == '${REPORT_ANNOTATION}' || ` +
  `(key in ${mapOf(to, 'annotations')} && ${mapOf(to, 'annotations')}[key] == ${mapOf(from, 'annotations')}[key]))`;

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>;

/** Annotations of a pod can also be set with its status and its binding, so these requests are checked too. */
const reportsSpec: PolicySpec = {
  failurePolicy: 'Fail',
  matchConstraints: {
    resourceRules: [
      {
        apiGroups: [''],
        apiVersions: ['v1'],
        resources: ['pods', 'pods/status', 'pods/binding', 'bindings'],
        operations: ['CREATE', 'UPDATE'],
      },
    ],
  },
  matchConditions: [{ name: 'report-changes', expression: `${reportOf('object')} != ${reportOf('oldObject')}` }],
  variables: [
    { name: 'isFromPodItself', expression: isFromPodItself },
    { name: 'isFromPodsAccount', expression: isFromPodsAccount },
  ],
  validations: [
    {
      expression: `size(${reportOf('object')}) <= ${MAX_REPORT_LENGTH}`,
      message: `the annotation ${REPORT_ANNOTATION} may have at most ${MAX_REPORT_LENGTH} characters; report fewer devices`,
      reason: 'Forbidden',
    },
    {
      expression: `(variables.isFromPodItself && variables.isFromPodsAccount) || ${mayUse(REPORT_VERB)}`,
      message:
        `the annotation ${REPORT_ANNOTATION} may be changed only by the pod that has it, with a token that is bound to the pod; ` +
        `to allow others, grant them the verb ${REPORT_VERB} on hsmpools.${GROUP} in this namespace`,
      reason: 'Forbidden',
    },
  ],
};

/** reportsPolicy allows a report to be written only by the pod that carries it, or with the verb `report`. */
export const reportsPolicy = companion(ValidatingAdmissionPolicy, 'reports').content(() => ({ spec: reportsSpec }));

/** reportsBinding puts the policy of reports into effect. */
export const reportsBinding = companion(ValidatingAdmissionPolicyBinding, 'reports').content(({ nameOf }) => ({
  spec: { policyName: nameOf(reportsPolicy), validationActions: ['Deny'] },
}));

const accountsSpec: PolicySpec = {
  failurePolicy: 'Fail',
  matchConstraints: {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['UPDATE'] }],
  },
  matchConditions: [
    {
      name: 'is-service-account',
      expression: "has(request.userInfo.username) && request.userInfo.username.startsWith('system:serviceaccount:')",
    },
    { name: 'may-self-report', expression: mayUse(SELF_REPORT_VERB) },
    { name: 'may-not-report', expression: `!${mayUse(REPORT_VERB)}` },
  ],
  validations: [
    {
      expression: isFromPodItself,
      message:
        'a discovery pod may change only itself, with a token that is bound to the pod; use another account to change other pods',
      reason: 'Forbidden',
    },
    {
      expression: [
        'object.spec == oldObject.spec',
        isSame((object) => mapOf(object, 'labels')),
        isSame((object) => listOf(object, 'ownerReferences')),
        isSame((object) => listOf(object, 'finalizers')),
        keepsAnnotations('object', 'oldObject'),
        keepsAnnotations('oldObject', 'object'),
      ].join(' && '),
      message: `a discovery pod may change only its annotation ${REPORT_ANNOTATION}; use another account for other changes`,
      reason: 'Forbidden',
    },
  ],
};

/**
 * accountsPolicy limits the permission of discovery pods to patch pods, which RBAC cannot narrow, to the report of
 * their own pod.
 */
export const accountsPolicy = companion(ValidatingAdmissionPolicy, 'discovery-accounts').content(() => ({
  spec: accountsSpec,
}));

/** accountsBinding puts the policy of discovery accounts into effect. */
export const accountsBinding = companion(ValidatingAdmissionPolicyBinding, 'discovery-accounts').content(
  ({ nameOf }) => ({ spec: { policyName: nameOf(accountsPolicy), validationActions: ['Deny'] } }),
);

/** guardsOf returns the policies of an install, whose names `nameOf` returns. */
export function guardsOf(nameOf: (companion: Companion) => string): readonly Guard[] {
  return [
    { policyName: nameOf(reportsPolicy), rules: policyRules(reportsSpec), bindingName: nameOf(reportsBinding) },
    { policyName: nameOf(accountsPolicy), rules: policyRules(accountsSpec), bindingName: nameOf(accountsBinding) },
  ];
}
