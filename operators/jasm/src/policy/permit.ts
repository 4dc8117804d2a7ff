import { anyGlob, quoteText } from '@bowline/machinery';
import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { NAMESPACE_ANNOTATIONS } from '../api/names.ts';

/** PolicyRule allows the pods of some namespaces to read some paths of a provider. */
export interface PolicyRule {
  /** Globs. */
  readonly namespaces: readonly string[];
  readonly provider: string;
  /** Globs. */
  readonly paths: readonly string[];
  /** The role to read with unless the annotation names another. */
  readonly role?: string | undefined;
  /** Globs of the roles that an annotation may specify. Defaults to none. */
  readonly roles?: readonly string[] | undefined;
  /** Globs of the regions that an annotation may specify. Defaults to none. */
  readonly regions?: readonly string[] | undefined;
}

/** Policy defines which pods may read which secrets. */
export interface Policy {
  /** Whether all pods may read everything if there are no rules. */
  readonly allowAllPaths: boolean;
  /** Whether a namespace must declare what its pods may read. */
  readonly permittedPathsRequired: boolean;
  /** A read that no rule allows is refused. Undefined if there is no policy. */
  readonly policy?: readonly PolicyRule[] | undefined;
  /** Without rules: the names that an annotation may use, by provider. Defaults to none. */
  readonly allowed?: ReadonlyMap<string, AllowedNames> | undefined;
}

/**
 * AllowedNames holds globs of the names that an annotation may use with one provider. A role of one provider means
 * nothing to another.
 */
interface AllowedNames {
  readonly roles: readonly string[];
  readonly regions: readonly string[];
}

/** PermitInput identifies the requesting namespace and the requested secret. */
export interface PermitInput {
  readonly request: Pick<SecretSyncRequest, 'provider' | 'path' | 'role' | 'region'>;
  /** All names of the secret, as returned by `ProviderKind.names`. */
  readonly names: readonly string[];
  readonly namespace: string;
  /** The annotations of the Namespace. Undefined if the Namespace cannot be read. */
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

/** Permission holds the role and region that a secret is read with. */
export interface Permission {
  readonly role?: string | undefined;
  readonly region?: string | undefined;
}

/** PolicyProblem reports why a secret may not be read, and who can change that. */
export interface PolicyProblem {
  readonly reason: 'PathNotPermitted';
  readonly message: string;
}

/**
 * permit decides whether pods of a namespace may read a secret, and with which role. Both the policy and the
 * namespace's own annotation must allow it: the annotation can only narrow the policy. Names are compared exactly; case
 * matters.
 */
export function permit(input: PermitInput, policy: Policy): Permission | PolicyProblem {
  const problem = annotationProblem(input, policy);
  if (problem !== undefined) return refused(input, problem);
  const allowed = policy.policy ? permitByRules(input, policy.policy) : permitWithoutRules(input, policy);
  return typeof allowed === 'string' ? refused(input, allowed) : allowed;
}

const ASK_ADMINISTRATOR = 'ask an administrator of the operator to add a rule to jasm.policy';

function permitByRules(input: PermitInput, rules: readonly PolicyRule[]): Permission | string {
  const { request, names, namespace } = input;
  const matching = rules.filter(
    ({ namespaces, provider, paths }) =>
      provider === request.provider && anyGlob(namespaces)(namespace) && matchesPath(paths, names),
  );
  if (matching.length === 0) return `no rule of the policy allows it; ${ASK_ADMINISTRATOR}`;
  for (const { role, roles = [], regions = [] } of matching) {
    const isRoleAllowed = request.role === undefined || request.role === role || anyGlob(roles)(request.role);
    const isRegionAllowed = request.region === undefined || anyGlob(regions)(request.region);
    if (isRoleAllowed && isRegionAllowed) return { role: request.role ?? role, region: request.region };
  }
  return `no rule of the policy allows the path together with ${describeRoleAndRegion(request)}; ${ASK_ADMINISTRATOR}`;
}

function permitWithoutRules({ request }: PermitInput, policy: Policy): Permission | string {
  const { allowAllPaths, allowed } = policy;
  if (!allowAllPaths) return `no policy is configured; ${ASK_ADMINISTRATOR}`;
  const { provider, role, region } = request;
  const { roles = [], regions = [] } = allowed?.get(provider) ?? {};
  const isAllowed = (role === undefined || anyGlob(roles)(role)) && (region === undefined || anyGlob(regions)(region));
  if (isAllowed) return { role, region };
  const remedy = allowed?.has(provider)
    ? 'ask an administrator of the operator to allow it with allowedRoles and allowedRegions of the provider'
    : 'without a policy this provider is read only as configured; ask an administrator of the operator to add a rule to jasm.policy';
  return `an annotation may not specify ${describeRoleAndRegion(request)}; ${remedy}`;
}

function describeRoleAndRegion({ role, region }: PermitInput['request']): string {
  return [
    ...(role === undefined ? [] : [`the role ${quoteText(abbreviated(role))}`]),
    ...(region === undefined ? [] : [`the region ${quoteText(region)}`]),
  ].join(' and ');
}

/**
 * Enough for hundreds of paths. The annotation is evaluated in every run: one as long as the API server allows would
 * take seconds each time.
 */
const MAX_ANNOTATION_LENGTH = 16_384;

function annotationProblem({ names, namespace, annotations }: PermitInput, policy: Policy): string | undefined {
  const name = NAMESPACE_ANNOTATIONS.permittedPaths;
  const given = annotations && Object.hasOwn(annotations, name) ? annotations[name] : undefined;
  if (given === undefined) {
    if (!policy.permittedPathsRequired) return undefined;
    return annotations === undefined
      ? `the annotation ${name} of the namespace is required, but the operator cannot read namespaces; ask an administrator of the operator to grant that permission`
      : `the namespace must have the annotation ${name}; ask an owner of the namespace ${namespace} to add it`;
  }
  if (given.length > MAX_ANNOTATION_LENGTH)
    return `the annotation ${name} of the namespace has more than ${MAX_ANNOTATION_LENGTH} characters; ask an owner of the namespace ${namespace} to shorten it, for example with **`;
  const globs = given.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]));
  if (matchesPath(globs, names)) return undefined;
  return `the annotation ${name} of the namespace does not allow it; ask an owner of the namespace ${namespace} to add the path`;
}

/** One allowed name is enough: all are names of the same secret. */
function matchesPath(globs: readonly string[], names: readonly string[]): boolean {
  const isAllowed = anyGlob(globs);
  // Providers reject such paths where the segments have a meaning. A glob must not leave room for a second
  // interpretation.
  if (names.some((name) => name.split('/').some((step) => step === '.' || step === '..'))) return false;
  return names.some(isAllowed);
}

function refused({ request: { provider, path }, namespace }: PermitInput, problem: string): PolicyProblem {
  return {
    reason: 'PathNotPermitted',
    message: `pods in the namespace ${namespace} may not read ${quoteText(abbreviated(path))} from ${provider}: ${problem}`,
  };
}

function abbreviated(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
