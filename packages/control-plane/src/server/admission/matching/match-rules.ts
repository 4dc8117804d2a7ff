import type { NamedRuleWithOperations } from '@bowline/kubernetes';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { Registry } from '../../registry/registry.ts';
import type { AdmissionRequest } from '../admission.ts';

const ANY = '*';
const ADMISSION_GROUP = 'admissionregistration.k8s.io';

/** MatchRules selects requests by their resource and operation, and by name if a rule has resourceNames. */
export interface MatchRules {
  readonly rules: readonly NamedRuleWithOperations[];
  /** Whether a rule for another version of the written resource matches too. */
  readonly matchesEquivalents: boolean;
}

/**
 * isExempt reports whether a request is admitted without webhooks and policies: one that could deny its own removal
 * could not be removed.
 */
export function isExempt({ resource }: AdmissionRequest): boolean {
  return resource.group === ADMISSION_GROUP;
}

/**
 * matchedResource returns the resource, in the version that a rule names, that matches one of the rules; undefined if
 * none matches.
 */
export function matchedResource(
  { rules, matchesEquivalents }: MatchRules,
  request: AdmissionRequest,
  registry: Registry,
): ApiResource | undefined {
  const { resource } = request;
  if (rules.some((rule) => matches(rule, request, resource))) return resource;
  if (!matchesEquivalents || rules.length === 0) return undefined;
  const equivalents = equivalentsOf(resource, registry);
  if (equivalents.length === 0) return undefined;
  for (const rule of rules) {
    const equivalent = equivalents.find((each) => matches(rule, request, each));
    if (equivalent) return equivalent;
  }
  return undefined;
}

/** namesResource reports whether a rule can match requests of a resource, in any version and for any subresource. */
export function namesResource({ apiGroups, resources }: NamedRuleWithOperations, resource: ApiResource): boolean {
  if (!has(apiGroups, resource.group)) return false;
  return (resources ?? []).some((pattern) => {
    const [whole] = pattern.split('/', 1);
    return whole === ANY || whole === resource.resource;
  });
}

/** The served resources change rarely, and every write evaluates the rules of every webhook and policy. */
const known = new WeakMap<ApiResource, { readonly generation: number; readonly equivalents: readonly ApiResource[] }>();

/**
 * equivalentsOf returns the other versions of a resource. Events of the other group are the same objects too, but
 * nothing converts between them.
 */
function equivalentsOf(resource: ApiResource, registry: Registry): readonly ApiResource[] {
  const { generation } = registry;
  const before = known.get(resource);
  if (before?.generation === generation) return before.equivalents;
  const { collection, group } = resource;
  const equivalents = registry
    .all()
    .filter((each) => each.collection === collection && each.group === group && each !== resource);
  known.set(resource, { generation, equivalents });
  return equivalents;
}

function matches(rule: NamedRuleWithOperations, request: AdmissionRequest, resource: ApiResource): boolean {
  return (
    has(rule.operations, request.operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    hasScope(rule.scope, request) &&
    (rule.resources ?? []).some((each) => isResource(each, resource.resource, request.subresource)) &&
    hasName(rule.resourceNames, request.name)
  );
}

function has(values: readonly string[] | undefined, value: string): boolean {
  return values?.some((each) => each === ANY || each === value) ?? false;
}

/** No names are all names. */
function hasName(names: readonly string[] = [], name: string): boolean {
  return names.length === 0 || names.includes(name);
}

/** A Namespace object is cluster-scoped, although the request has its namespace set. */
function hasScope(scope: string | undefined, { resource, namespace }: AdmissionRequest): boolean {
  if (scope === undefined || scope === ANY) return true;
  const isNamespaced = namespace !== '' && resource.resource !== 'namespaces';
  return isNamespaced === (scope === 'Namespaced');
}

function isResource(pattern: string, resource: string, subresource: string): boolean {
  const slash = pattern.indexOf('/');
  const whole = slash < 0 ? pattern : pattern.slice(0, slash);
  const part = slash < 0 ? '' : pattern.slice(slash + 1);
  return (whole === ANY || whole === resource) && (part === ANY || part === subresource);
}
