import type { SelfSubjectRulesReviewSpec } from '@bowline/kubernetes';
import { joined, type RbacAuthorizer } from '../authorization/rbac-authorizer.ts';
import type { Answer } from '../registry/api-resource.ts';
import { badRequest } from '../status/api-status.ts';

/** selfSubjectRulesReview answers what the one who asks may do in a namespace. */
export function selfSubjectRulesReview(authorizer: RbacAuthorizer): Answer {
  return (draft, { user }) => {
    // The kind's schema was checked when it was decoded.
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
