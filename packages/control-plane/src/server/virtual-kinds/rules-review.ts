import type { SelfSubjectRulesReviewSpec } from '@bowline/kubernetes';
import { joined, type RbacAuthorizer } from '../authorization/rbac-authorizer.ts';
import type { ComputeResponse } from '../registry/api-resource.ts';
import { badRequest } from '../status/api-status.ts';

/** selfSubjectRulesReview returns what the requesting user may do in a namespace. */
export function selfSubjectRulesReview(authorizer: RbacAuthorizer): ComputeResponse {
  return (draft, { user }) => {
    // Decoding checked the schema of the kind.
    const { namespace } = (draft.spec ?? {}) as SelfSubjectRulesReviewSpec;
    if (!namespace) throw badRequest('no namespace on request');
    const { rules, problems } = authorizer.heldBy(user, namespace);
    return {
      metadata: {},
      spec: {},
      status: {
        resourceRules: rules
          .filter(({ resources = [] }) => resources.length > 0)
          .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames })),
        nonResourceRules: rules
          .filter(({ nonResourceURLs = [] }) => nonResourceURLs.length > 0)
          .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
        incomplete: false,
        evaluationError: problems.length === 0 ? undefined : joined(problems),
      },
    };
  };
}
