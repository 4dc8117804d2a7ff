import { serviceAccountGroups, splitServiceAccountName } from '../authentication/service-account-name.ts';
import { ALL_AUTHENTICATED, ALL_UNAUTHENTICATED, ANONYMOUS, type UserInfo } from '../authentication/user-info.ts';
import type { ApiRequest } from '../http/api-request.ts';
import { badRequest } from '../status/api-status.ts';
import type { Authorizer } from './authorizer.ts';
import { refusal } from './refusal.ts';

const EXTRA_PREFIX = 'impersonate-extra-';

/** Impersonated is a user to impersonate, or one attribute of it, as the object of the verb `impersonate`. */
interface Impersonated {
  readonly kind: 'User' | 'ServiceAccount' | 'Group' | 'UserExtra' | 'UID';
  readonly resource: string;
  readonly group: '' | 'authentication.k8s.io';
  readonly namespace: string;
  readonly name: string;
  /** The key of an extra field. */
  readonly field: string;
}

/**
 * impersonated returns the user that a request is made as: the caller, unless the headers name another user that the
 * caller may impersonate. Each name, group, uid and extra value requires a right of its own.
 */
export function impersonated(request: ApiRequest, caller: UserInfo, authorizer: Authorizer): UserInfo {
  const wanted = readHeaders(request);
  if (!wanted) return caller;
  for (const each of wanted.parts) {
    const { group, resource, namespace, name, field } = each;
    const attributes = {
      isResource: true,
      verb: 'impersonate',
      group,
      resource,
      subresource: field,
      namespace,
      name,
    } as const;
    const decision = authorizer.authorize(caller, attributes);
    if (!decision.allowed) throw refusal(caller, attributes, decision.reason);
  }
  return wanted.user;
}

function readHeaders(request: ApiRequest): { parts: readonly Impersonated[]; user: UserInfo } | undefined {
  const lines = (request.headerLines?.() ?? Object.entries(request.headers)).filter(([name]) =>
    name.startsWith('impersonate-'),
  );
  if (lines.length === 0) return undefined;
  const valuesOf = (wanted: string): string[] =>
    lines.flatMap(([name, value]) => (name === wanted && value !== undefined ? [value] : []));
  const username = valuesOf('impersonate-user')[0] ?? '';
  const uid = valuesOf('impersonate-uid')[0] ?? '';
  const groups = valuesOf('impersonate-group');
  const extra = new Map<string, string[]>();
  for (const [name, value] of lines) {
    if (!name.startsWith(EXTRA_PREFIX) || value === undefined) continue;
    const key = unescaped(name.slice(EXTRA_PREFIX.length));
    extra.set(key, [...(extra.get(key) ?? []), value]);
  }
  const account = splitServiceAccountName(username);
  const parts: Impersonated[] = [];
  if (account) parts.push(part('ServiceAccount', 'serviceaccounts', account.name, { namespace: account.namespace }));
  else if (username !== '') parts.push(part('User', 'users', username));
  for (const group of groups) parts.push(part('Group', 'groups', group));
  for (const [field, values] of [...extra].sort(byName))
    for (const value of values) parts.push(part('UserExtra', 'userextras', value, { field }));
  if (uid !== '') parts.push(part('UID', 'uids', uid));
  if (parts.length === 0) return undefined;
  if (username === '') throw badRequest(`requested [${parts.map(goText).join(' ')}] without impersonating a user`);
  const all = account && groups.length === 0 ? serviceAccountGroups(account.namespace) : groups;
  const user: UserInfo = {
    username,
    uid: uid || undefined,
    groups: [...all, ...standing(username, all)],
    extra: extra.size === 0 ? undefined : Object.fromEntries(extra),
  };
  return { parts, user };
}

/**
 * standing returns the additional groups of an impersonated user: it counts as authenticated, unless it is the
 * anonymous user.
 */
function standing(username: string, groups: readonly string[]): string[] {
  if (username === ANONYMOUS.username) return groups.includes(ALL_UNAUTHENTICATED) ? [] : [ALL_UNAUTHENTICATED];
  const isKnown = groups.includes(ALL_AUTHENTICATED) || groups.includes(ALL_UNAUTHENTICATED);
  return isKnown ? [] : [ALL_AUTHENTICATED];
}

function part(
  kind: Impersonated['kind'],
  resource: string,
  name: string,
  { namespace = '', field = '' }: { readonly namespace?: string; readonly field?: string } = {},
): Impersonated {
  const group = kind === 'UserExtra' || kind === 'UID' ? 'authentication.k8s.io' : '';
  return { kind, resource, group, namespace, name, field };
}

/**
 * The API server prints the object references in Go format: kind, namespace, name, uid, apiVersion, resourceVersion and
 * field.
 */
function goText({ kind, namespace, name, group, field }: Impersonated): string {
  return `{${kind} ${namespace} ${name}  ${group === '' ? '' : `${group}/v1`}  ${field}}`;
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** Keys are percent-encoded, because header names allow few characters; an invalid escape is kept as it is. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
