import {
  type ParamKind,
  parseApiVersion,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { type FieldProblem, isSameJson } from '@bowline/machinery';
import { MASTERS, type UserInfo } from '../../authentication/user-info.ts';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { Draft } from '../../registry/api-resource.ts';
import { forbidden } from '../../registry/kinds/shared/problems.ts';
import type { Registry } from '../../registry/registry.ts';
import { invalid } from '../../status/api-status.ts';
import type { Storage } from '../../storage/storage.ts';
import { keyIn, objectOf } from '../../storage/stored.ts';
import type { AdmissionPlugin } from '../admission.ts';
import { findParamKind } from './params.ts';
import { POLICIES } from './policy.ts';

/** ParamAccessParts holds the dependencies of paramAccess. */
export interface ParamAccessParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly authorizer: Authorizer;
}

/**
 * paramAccess requires that the writer of a policy or binding may read the objects that it uses as parameters: through
 * messages, a policy shows what they contain.
 */
export function paramAccess(parts: ParamAccessParts): AdmissionPlugin {
  return {
    name: 'ParamAccess',
    validate({ operation, resource, subresource, user, object, old, name }) {
      if (resource.group !== 'admissionregistration.k8s.io' || subresource !== '' || !object) return;
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || user.groups.includes(MASTERS)) return;
      const problem =
        resource.resource === 'validatingadmissionpolicies'
          ? policyProblem(parts, user, object, old)
          : resource.resource === 'validatingadmissionpolicybindings'
            ? bindingProblem(parts, user, object, old)
            : undefined;
      if (problem) throw invalid(resource, name || (object.metadata.name ?? ''), [problem]);
    },
  };
}

function policyProblem(
  parts: ParamAccessParts,
  user: UserInfo,
  object: Draft,
  old: Draft | undefined,
): FieldProblem | undefined {
  const { paramKind } = (object as ValidatingAdmissionPolicy).spec ?? {};
  if (!paramKind || isSameJson(paramKind, (old as ValidatingAdmissionPolicy | undefined)?.spec?.paramKind))
    return undefined;
  const { group, resource } = paramTarget(parts.registry, paramKind);
  const all = { isResource: true, verb: 'get', group, resource, subresource: '', namespace: '*', name: '*' } as const;
  if (parts.authorizer.authorize(user, all).allowed) return undefined;
  const { kind, apiVersion } = paramKind;
  const which = `the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  return forbidden('spec.paramKind', `user ${userText(user)} must have "get" permission on all objects of ${which}`);
}

function bindingProblem(
  { storage, registry, authorizer }: ParamAccessParts,
  user: UserInfo,
  object: Draft,
  old: Draft | undefined,
): FieldProblem | undefined {
  const { paramRef, policyName = '' } = (object as ValidatingAdmissionPolicyBinding).spec ?? {};
  const before = (old as ValidatingAdmissionPolicyBinding | undefined)?.spec;
  if (!paramRef || (isSameJson(paramRef, before?.paramRef) && policyName === before?.policyName)) return undefined;
  const stored = storage.get(POLICIES, keyIn('', policyName));
  const policy = stored && (objectOf(stored) as ValidatingAdmissionPolicy);
  const { group, resource } = paramTarget(registry, policy?.spec?.paramKind);
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  const attributes = { isResource: true, verb, group, resource, subresource: '', namespace, name } as const;
  if (authorizer.authorize(user, attributes).allowed) return undefined;
  const everything = `user ${userText(user)} does not have "${verb}" permission for all groups, versions and resources`;
  if (!policy)
    return forbidden(
      'spec.paramRef',
      `unable to get policy ${policyName} to determine minimum required permissions and ${everything}`,
    );
  return forbidden(
    'spec.paramRef',
    `user ${userText(user)} does not have "${verb}" permission on the object referenced by paramRef`,
  );
}

/** paramTarget returns what a user must be able to read; everything if the kind is not known. */
function paramTarget(registry: Registry, paramKind: ParamKind | undefined): { group: string; resource: string } {
  if (!paramKind) return { group: '*', resource: '*' };
  const { group } = parseApiVersion(paramKind.apiVersion ?? '');
  return { group, resource: findParamKind(registry, paramKind)?.resource ?? '*' };
}

/** userText formats a user as the API server does: in the notation of its programming language. */
function userText({ username, uid = '', groups, extra = {} }: UserInfo): string {
  const more = Object.entries(extra)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${key}:[${values.join(' ')}]`);
  return `&{${username} ${uid} [${groups.join(' ')}] map[${more.join(' ')}]}`;
}
