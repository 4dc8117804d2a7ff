import type { ApiResource } from '../../registry/api-resource.ts';
import type { Registry } from '../../registry/registry.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AdmissionRequest } from '../admission.ts';
import { isExempt, matchedResource } from '../matching/match-rules.ts';
import { selectsRequest } from '../matching/selectors.ts';
import type { Match } from './policy.ts';

/** Reviews grant nothing and store nothing; denying them could make the cluster unusable. */
const REVIEW_GROUPS = ['authentication.k8s.io', 'authorization.k8s.io'];

/** isExemptFromPolicies reports whether no policy applies to a request. */
export function isExemptFromPolicies(request: AdmissionRequest): boolean {
  return isExempt(request) || REVIEW_GROUPS.includes(request.resource.group);
}

/**
 * matchingResource returns the resource, in the version that a rule names, if a policy or a binding applies to the
 * request, and undefined otherwise. Without rules, it applies to all resources.
 */
export function matchingResource(
  { storage, registry }: { readonly storage: Storage; readonly registry: Registry },
  match: Match,
  request: AdmissionRequest,
): ApiResource | undefined {
  const resource = match.rules.length === 0 ? request.resource : matchedResource(match, request, registry);
  if (!resource || matchedResource(match.excludedRules, request, registry)) return undefined;
  return selectsRequest(storage, match, request) ? resource : undefined;
}
