import type { RuleWithOperations } from '@bowline/kubernetes';
import type { ApiResource } from '../../registry/api-resource.ts';
import type { Registry } from '../../registry/registry.ts';
import type { AdmissionRequest } from '../admission.ts';
import type { Webhook } from './webhook.ts';

const ANY = '*';
const ADMISSION_GROUP = 'admissionregistration.k8s.io';

/**
 * isExempt reports whether no webhook is called for a request: a webhook that could deny its own removal could not be
 * removed.
 */
export function isExempt({ resource }: AdmissionRequest): boolean {
  return resource.group === ADMISSION_GROUP;
}

/**
 * matchedResource returns the resource, in the version that a webhook expects, that matches one of its rules; undefined
 * if none matches. A rule for another version of the written resource matches too, unless the webhook requires exact
 * matches.
 */
export function matchedResource(
  webhook: Webhook,
  request: AdmissionRequest,
  registry: Registry,
): ApiResource | undefined {
  const { resource } = request;
  if (webhook.rules.some((rule) => matches(rule, request, resource))) return resource;
  if (!webhook.matchesEquivalents || webhook.rules.length === 0) return undefined;
  const equivalents = equivalentsOf(resource, registry);
  if (equivalents.length === 0) return undefined;
  for (const rule of webhook.rules) {
    const equivalent = equivalents.find((each) => matches(rule, request, each));
    if (equivalent) return equivalent;
  }
  return undefined;
}

/** The served resources change rarely, and every write evaluates the rules of every webhook. */
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

function matches(rule: RuleWithOperations, request: AdmissionRequest, resource: ApiResource): boolean {
  return (
    has(rule.operations, request.operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    hasScope(rule.scope, request) &&
    (rule.resources ?? []).some((each) => isResource(each, resource.resource, request.subresource))
  );
}

function has(values: readonly string[] | undefined, value: string): boolean {
  return values?.some((each) => each === ANY || each === value) ?? false;
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
