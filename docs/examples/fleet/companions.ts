import { ClusterRole, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@bowline/kubernetes';
import { companion } from '@bowline/runtime';

/** REPORT is the label of the ConfigMaps with reports. */
export const REPORT = 'example.com/report';

const POD_NAME = 'authentication.kubernetes.io/pod-name';

/** agent is the role of agents. The operator binds it, and does not have its permissions itself. */
export const agent = companion(ClusterRole, 'agent').content(() => ({
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update'] }],
}));

/** reports is the rule that an agent writes only its own report: RBAC cannot restrict a creation to a name. */
export const reports = companion(ValidatingAdmissionPolicy, 'reports').content(() => ({
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      objectSelector: { matchExpressions: [{ key: REPORT, operator: 'Exists' }] },
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] },
      ],
    },
    validations: [
      {
        expression: `has(request.userInfo.extra) && '${POD_NAME}' in request.userInfo.extra &&
          request.userInfo.extra['${POD_NAME}'] == [object.metadata.name]`,
        message: 'a report is written by the Pod that it is named after',
        reason: 'Forbidden',
      },
    ],
  },
}));

/** enforced puts the rule into effect. */
export const enforced = companion(ValidatingAdmissionPolicyBinding, 'reports').content(({ nameOf }) => ({
  spec: { policyName: nameOf(reports), validationActions: ['Deny'] },
}));
