import type { PolicyRule, Subject } from '@bowline/kubernetes';
import { VirtualClock } from '@bowline/machinery';
import { beforeEach, describe, expect, it } from 'vitest';
import type { UserInfo } from '../authentication/user-info.ts';
import { Storage } from '../storage/storage.ts';
import type { Attributes } from './authorizer.ts';
import { RbacAuthorizer } from './rbac-authorizer.ts';
import { RBAC_COLLECTIONS, RbacIndex } from './rbac-index.ts';

const user = (username: string, ...groups: string[]): UserInfo => ({ username, groups });
const ann: Subject = { kind: 'User', name: 'ann' };

/** asking parses attributes from text: `get apps deployments/scale in ns named x` or `get /path`. */
function asking(text: string): Attributes {
  const match = /^(\S+) (\S+) ([^\s/]+)(?:\/(\S+))?(?: in (\S+))?(?: named (\S+))?$/.exec(text);
  if (!match) {
    const [verb = '', path = ''] = text.split(' ');
    return { isResource: false, verb, path };
  }
  const [, verb = '', group = '', resource = '', subresource = '', namespace = '', name = ''] = match;
  return { isResource: true, verb, group: group === 'core' ? '' : group, resource, subresource, namespace, name };
}

let storage: Storage;
let authorizer: RbacAuthorizer;

function role(name: string, rules: readonly PolicyRule[], namespace?: string): void {
  const collection = namespace === undefined ? RBAC_COLLECTIONS.clusterRoles : RBAC_COLLECTIONS.roles;
  storage.create(collection, `${namespace ?? ''}/${name}`, { metadata: { name, namespace }, rules } as object);
}

function bind(name: string, kind: string, roleName: string, subjects: readonly Subject[], namespace?: string): void {
  const collection = namespace === undefined ? RBAC_COLLECTIONS.clusterRoleBindings : RBAC_COLLECTIONS.roleBindings;
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName };
  const object = { metadata: { name, namespace }, roleRef, subjects } as object;
  storage.create(collection, `${namespace ?? ''}/${name}`, object);
}

beforeEach(() => {
  storage = new Storage({ clock: new VirtualClock() });
  authorizer = new RbacAuthorizer(new RbacIndex(storage));
});

describe('rules', () => {
  it.each<[string, PolicyRule, string[], string[]]>([
    [
      'by verb, group and resource',
      { verbs: ['get', 'list'], apiGroups: ['apps'], resources: ['deployments'] },
      ['get apps deployments', 'list apps deployments in a', 'get apps deployments in a named x'],
      ['watch apps deployments', 'get core deployments', 'get apps deployments/status', 'get apps pods', 'get /apps'],
    ],
    [
      'for everything',
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
      ['anything any.group things/part in a named b', 'get core pods'],
      ['get /healthz'],
    ],
    [
      'by subresource',
      { verbs: ['get'], apiGroups: [''], resources: ['pods/log'] },
      ['get core pods/log in a named b'],
      ['get core pods in a', 'get core pods/exec', 'get core services/log'],
    ],
    [
      'by a subresource of all resources',
      { verbs: ['update'], apiGroups: ['apps'], resources: ['*/scale'] },
      ['update apps deployments/scale', 'update apps statefulsets/scale in a'],
      ['update apps deployments', 'update core pods/scale', 'update apps deployments/scale/more'],
    ],
    [
      'by name',
      { verbs: ['*'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] },
      ['get core secrets in x named a', 'delete core secrets named b'],
      ['get core secrets in x', 'get core secrets in x named c', 'list core secrets'],
    ],
    [
      'by path',
      { verbs: ['get'], nonResourceURLs: ['/healthz', '/api/*', '/log*'] },
      ['get /healthz', 'get /api/', 'get /api/v1', 'get /logs/x', 'get /log'],
      ['post /healthz', 'get /healthz/', 'get /api', 'get /', 'get core pods'],
    ],
    ['by any path', { verbs: ['get'], nonResourceURLs: ['*'] }, ['get /', 'get /metrics'], ['put /', 'get core pods']],
    ['with no groups', { verbs: ['get'], resources: ['pods'] }, [], ['get core pods']],
    [
      'with names from the prototype of objects',
      { verbs: ['constructor'], apiGroups: ['__proto__'], resources: ['toString'] },
      ['constructor __proto__ toString'],
      ['get __proto__ toString', 'constructor core toString'],
    ],
  ])('allow %s, and nothing else', (_name, rule, allowed, denied) => {
    role('r', [rule]);
    bind('b', 'ClusterRole', 'r', [ann]);
    for (const text of allowed)
      expect([text, authorizer.authorize(user('ann'), asking(text)).allowed]).toEqual([text, true]);
    for (const text of denied)
      expect([text, authorizer.authorize(user('ann'), asking(text)).allowed]).toEqual([text, false]);
  });
});

describe('bindings', () => {
  const pods: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
  const may = (who: UserInfo, namespace: string): boolean =>
    authorizer.authorize(who, asking(`get core pods${namespace && ` in ${namespace}`}`)).allowed;

  it('of a namespace apply only in it, for both kinds of roles', () => {
    role('r', [pods]);
    role('r', [{ ...pods, resources: ['secrets'] }], 'a');
    bind('b', 'ClusterRole', 'r', [ann], 'a');
    expect([may(user('ann'), 'a'), may(user('ann'), 'b'), may(user('ann'), '')]).toEqual([true, false, false]);
    expect(authorizer.authorize(user('ann'), asking('get core secrets in a')).allowed).toBe(false);
    bind('c', 'Role', 'r', [ann], 'a');
    expect(authorizer.authorize(user('ann'), asking('get core secrets in a')).allowed).toBe(true);
  });

  it('of the cluster do not grant roles of a namespace', () => {
    role('r', [pods], 'a');
    bind('b', 'Role', 'r', [ann]);
    expect(may(user('ann'), 'a')).toBe(false);
  });

  it('apply to users, groups and ServiceAccounts', () => {
    role('r', [pods]);
    bind('b', 'ClusterRole', 'r', [
      ann,
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ]);
    bind('c', 'ClusterRole', 'r', [{ kind: 'ServiceAccount', name: 't' }], 'n');
    bind('d', 'ClusterRole', 'r', [{ kind: 'ServiceAccount', name: 'u' }]);
    expect(may(user('ann'), '')).toBe(true);
    expect(may(user('bob', 'f', 'g'), '')).toBe(true);
    expect(may(user('system:serviceaccount:n:s'), '')).toBe(true);
    expect([may(user('system:serviceaccount:n:t'), 'n'), may(user('system:serviceaccount:n:t'), '')]).toEqual([
      true,
      false,
    ]);
    for (const who of [user('g'), user('bob', 'ann'), user('s'), user('system:serviceaccount::u'), user('')])
      expect(may(who, '')).toBe(false);
  });

  it('take effect immediately and end when they are deleted', () => {
    expect(may(user('ann'), '')).toBe(false);
    bind('b', 'ClusterRole', 'r', [ann]);
    role('r', [pods]);
    expect(may(user('ann'), '')).toBe(true);
    const stored = storage.get(RBAC_COLLECTIONS.clusterRoleBindings, '/b');
    storage.remove(RBAC_COLLECTIONS.clusterRoleBindings, '/b', stored?.revision ?? 0, { metadata: {} });
    expect(may(user('ann'), '')).toBe(false);
  });

  it('follow a change of their subjects and of their role', () => {
    role('r', [pods]);
    bind('b', 'ClusterRole', 'r', [ann, ann]);
    const collection = RBAC_COLLECTIONS.clusterRoleBindings;
    const roleRef = { apiGroup: '', kind: 'ClusterRole', name: 'r' };
    const changed = { metadata: { name: 'b' }, roleRef, subjects: [{ kind: 'User', name: 'bob' }] } as object;
    storage.update(collection, '/b', storage.get(collection, '/b')?.revision ?? 0, changed);
    expect([may(user('ann'), ''), may(user('bob'), '')]).toEqual([false, true]);
    const roles = RBAC_COLLECTIONS.clusterRoles;
    storage.update(roles, '/r', storage.get(roles, '/r')?.revision ?? 0, { metadata: { name: 'r' } });
    expect(may(user('bob'), '')).toBe(false);
  });

  it('that exist before the index are known, and none after its disposal', () => {
    role('r', [pods]);
    bind('b', 'ClusterRole', 'r', [ann]);
    const index = new RbacIndex(storage);
    const later = new RbacAuthorizer(index);
    expect(later.authorize(user('ann'), asking('get core pods')).allowed).toBe(true);
    index[Symbol.dispose]();
    bind('c', 'ClusterRole', 'r', [{ kind: 'User', name: 'bob' }]);
    expect(later.authorize(user('bob'), asking('get core pods')).allowed).toBe(false);
  });

  it('allow system:masters everything, whatever is stored', () => {
    expect(authorizer.authorize(user('root', 'system:masters'), asking('delete core pods'))).toEqual({
      allowed: true,
      reason: '',
    });
  });

  it('are named in the reason, with the message of the API server', () => {
    role('r', [pods]);
    bind('b', 'ClusterRole', 'r', [{ kind: 'Group', name: 'g' }, ann], 'n');
    bind('c', 'ClusterRole', 'r', [{ kind: 'ServiceAccount', name: 's', namespace: 'm' }]);
    const reason = (who: UserInfo): string => authorizer.authorize(who, asking('get core pods in n')).reason;
    expect(reason(user('ann'))).toBe('RBAC: allowed by RoleBinding "b/n" of ClusterRole "r" to User "ann"');
    expect(reason(user('ann', 'g'))).toBe('RBAC: allowed by RoleBinding "b/n" of ClusterRole "r" to Group "g"');
    expect(reason(user('system:serviceaccount:m:s'))).toBe(
      'RBAC: allowed by ClusterRoleBinding "c" of ClusterRole "r" to ServiceAccount "s/m"',
    );
    expect(reason(user('bob'))).toBe('');
  });

  it('to missing roles deny and report the missing role', () => {
    bind('b', 'ClusterRole', 'no', [ann], 'n');
    const authorize = (): unknown => authorizer.authorize(user('ann'), asking('get core pods in n'));
    const one = 'clusterrole.rbac.authorization.k8s.io "no" not found';
    expect(authorize()).toEqual({ allowed: false, reason: `RBAC: ${one}` });
    bind('c', 'Role', 'no', [ann], 'n');
    expect(authorize()).toEqual({
      allowed: false,
      reason: `RBAC: [${one}, role.rbac.authorization.k8s.io "no" not found]`,
    });
  });
});
