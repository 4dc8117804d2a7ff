import type { ClusterRole, PolicyRule } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import {
  ADMIN,
  type GuardedResponse,
  type GuardedServer,
  type Requester,
  startGuardedServer,
} from './authorization/guarded-server.test-support.ts';
import { Storage } from './storage/storage.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHN = '/apis/authentication.k8s.io/v1';
const AUTHZ = '/apis/authorization.k8s.io/v1';
const ACCOUNTS = '/api/v1/namespaces/ns/serviceaccounts';
const MERGE = [['content-type', 'application/merge-patch+json']] as const;
const ann: Requester = { user: 'ann' };

const roleRef = (name: string, kind = 'ClusterRole') => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
const toAnn = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }];

async function grant(t: GuardedServer, rules: readonly PolicyRule[], name = 'granted'): Promise<void> {
  await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, { metadata: { name }, rules });
  const binding = { metadata: { name }, roleRef: roleRef(name), subjects: toAnn };
  expect((await t.send(ADMIN, 'POST', `${RBAC}/clusterrolebindings`, binding)).code).toBe(201);
}

async function rulesOf(t: GuardedServer, name: string): Promise<readonly PolicyRule[] | undefined> {
  return ((await t.send(ADMIN, 'GET', `${RBAC}/clusterroles/${name}`)).body as ClusterRole).rules;
}

describe('a guarded server', () => {
  it('allows what the roles of a user grant and explains each refusal', async () => {
    using t = startGuardedServer();
    await grant(t, [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }]);
    expect((await t.send(ann, 'GET', '/api/v1/namespaces/ns/configmaps')).code).toBe(200);
    expect(await t.send(ann, 'GET', '/api/v1/namespaces/ns/pods/x/log')).toMatchObject({
      code: 403,
      body: {
        reason: 'Forbidden',
        message:
          'pods "x" is forbidden: User "ann" cannot get resource "pods/log" in API group "" in the namespace "ns"',
        details: { name: 'x', kind: 'pods' },
      },
    });
    expect((await t.send(undefined, 'GET', '/metrics')).body).toMatchObject({
      message: 'forbidden: User "system:anonymous" cannot get path "/metrics"',
      details: {},
    });
    expect(await t.send({ token: 'wrong' }, 'GET', '/version')).toMatchObject({
      code: 401,
      body: { message: 'Unauthorized', reason: 'Unauthorized' },
    });
  });

  it('has the default cluster roles from the start, with the aggregated roles filled in', async () => {
    using t = startGuardedServer();
    const view = (await rulesOf(t, 'view')) ?? [];
    const edit = (await rulesOf(t, 'edit')) ?? [];
    const admin = (await rulesOf(t, 'admin')) ?? [];
    // As on the real server.
    expect([view.length, edit.length, admin.length]).toEqual([12, 27, 29]);
    expect(edit).toEqual(expect.arrayContaining([...view]));
    expect((await t.send(ADMIN, 'GET', `${RBAC}/clusterroles/view`)).body.metadata).toMatchObject({
      labels: {
        'kubernetes.io/bootstrapping': 'rbac-defaults',
        'rbac.authorization.k8s.io/aggregate-to-edit': 'true',
      },
      managedFields: [
        { manager: 'clusterrole-aggregation-controller', operation: 'Apply' },
        { manager: 'kube-apiserver', operation: 'Update' },
      ],
    });
  });

  it('restores missing rules of bootstrap roles unless auto-update is disabled', async () => {
    const storage = new Storage({ clock: startGuardedServer().clock });
    {
      using t = startGuardedServer({ storage });
      const own = { verbs: ['get'], apiGroups: ['x'], resources: ['y'] };
      await t.send(ADMIN, 'PATCH', `${RBAC}/clusterroles/system:basic-user`, { rules: [own] }, MERGE);
      await t.send(ADMIN, 'PATCH', `${RBAC}/clusterrolebindings/system:basic-user`, { subjects: null }, MERGE);
      const taken = {
        metadata: { annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'false' } },
        rules: [],
      };
      await t.send(ADMIN, 'PATCH', `${RBAC}/clusterroles/system:discovery`, taken, MERGE);
      expect((await t.send(ann, 'POST', `${AUTHN}/selfsubjectreviews`, {})).code).toBe(403);
    }
    using t = startGuardedServer({ storage });
    expect((await t.send(ann, 'POST', `${AUTHN}/selfsubjectreviews`, {})).code).toBe(201);
    expect((await rulesOf(t, 'system:basic-user'))?.length).toBe(3);
    expect((await rulesOf(t, 'system:discovery')) ?? []).toEqual([]);
    const { revision } = storage;
    startGuardedServer({ storage })[Symbol.dispose]();
    expect(storage.revision).toBe(revision);
  });

  it('aggregates the selected ClusterRoles and follows their changes', async () => {
    using t = startGuardedServer();
    const part = (name: string, label: string, resource: string): Promise<GuardedResponse> =>
      t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, {
        metadata: { name, labels: { to: label } },
        rules: [
          { verbs: ['get'], apiGroups: [''], resources: [resource] },
          { verbs: ['get'], apiGroups: [''], resources: ['same'] },
        ],
      });
    await part('b', '1', 'xb');
    await part('c', '1', 'xc');
    await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, {
      metadata: { name: 'whole' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: '1' } }, { matchLabels: { to: '2' } }] },
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['own'] }],
    });
    await part('a', '2', 'xa');
    const resources = async (): Promise<unknown> => (await rulesOf(t, 'whole'))?.map((rule) => rule.resources?.[0]);
    expect(await resources()).toEqual(['xb', 'same', 'xc', 'xa']);
    await t.send(ADMIN, 'DELETE', `${RBAC}/clusterroles/b`);
    expect(await resources()).toEqual(['xc', 'same', 'xa']);
    await t.send(ADMIN, 'PATCH', `${RBAC}/clusterroles/whole`, { rules: null }, MERGE);
    expect(await resources()).toEqual(['xc', 'same', 'xa']);
  });

  it('terminates when aggregated ClusterRoles select each other', async () => {
    using t = startGuardedServer();
    const names = ['a', 'b', 'c'];
    for (const [index, name] of names.entries()) {
      await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, {
        metadata: { name, labels: { is: name } },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { is: names[(index + 1) % 3] ?? '' } }] },
        rules: [{ verbs: ['get'], apiGroups: [''], resources: [name] }],
      });
    }
    const stored = (await t.send(ADMIN, 'GET', `${RBAC}/clusterroles/a`)).code;
    expect(stored).toBe(200);
  });

  it('ignores null entries in lists', async () => {
    const storage = new Storage({ clock: startGuardedServer().clock });
    using t = startGuardedServer({ storage });
    const rules = [
      null,
      { verbs: [null, 'get'], apiGroups: ['', null], resources: [null, 'pods'], nonResourceURLs: [null] },
    ];
    const made = [
      ['clusterroles', { metadata: { name: 'holes' }, rules, aggregationRule: { clusterRoleSelectors: [null] } }],
      ['clusterroles', { metadata: { name: 'some' }, rules }],
      ['clusterrolebindings', { metadata: { name: 'some' }, roleRef: roleRef('some'), subjects: [null, ...toAnn] }],
      ['clusterrolebindings', { metadata: { name: 'none' }, subjects: toAnn }],
    ] as const;
    for (const [plural, object] of made)
      storage.create(`${plural}.rbac.authorization.k8s.io`, `/${object.metadata.name}`, object);
    using again = startGuardedServer({ storage });
    for (const each of [t, again]) {
      expect((await each.send(ann, 'GET', '/api/v1/namespaces/ns/pods/x')).code).toBe(404);
      expect((await each.send(ann, 'GET', '/api/v1/pods')).code).toBe(403);
      expect(
        (await each.send(ann, 'POST', `${AUTHZ}/selfsubjectrulesreviews`, { spec: { namespace: 'ns' } })).code,
      ).toBe(201);
    }
    const selector = { requirements: [null], rawSelector: '' };
    const spec = { user: 'x', resourceAttributes: { fieldSelector: selector, labelSelector: selector } };
    expect((await t.send(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, { spec })).code).toBe(422);
  });

  it('publishes the keys that verify tokens', async () => {
    using t = startGuardedServer();
    const account: Requester = { user: 'x', groups: ['system:serviceaccounts'] };
    expect((await t.send(account, 'GET', '/.well-known/openid-configuration')).body).toEqual({
      issuer: 'https://kubernetes.default.svc',
      jwks_uri: 'https://here/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const { keys } = (await t.send(account, 'GET', '/openid/v1/jwks')).body as { keys: object[] };
    expect(keys).toEqual([expect.objectContaining({ use: 'sig', kty: 'EC', crv: 'P-256', alg: 'ES256' })]);
    expect(keys[0]).not.toHaveProperty('d');
    expect((await t.send(ann, 'GET', '/openid/v1/jwks')).code).toBe(403);
  });
});

describe('token requests', () => {
  async function withAccount(t: GuardedServer): Promise<string> {
    return String((await t.send(ADMIN, 'POST', ACCOUNTS, { metadata: { name: 'sa' } })).body.metadata?.uid);
  }

  it('return a token that authenticates the account', async () => {
    using t = startGuardedServer();
    const uid = await withAccount(t);
    const { code, body } = await t.send(ADMIN, 'POST', `${ACCOUNTS}/sa/token`, { spec: { expirationSeconds: 600 } });
    expect([code, body]).toMatchObject([
      201,
      {
        kind: 'TokenRequest',
        apiVersion: 'authentication.k8s.io/v1',
        metadata: { name: 'sa', namespace: 'ns', uid },
        spec: { audiences: ['https://kubernetes.default.svc'], expirationSeconds: 600, boundObjectRef: null },
        status: { expirationTimestamp: '2026-01-01T00:10:00Z' },
      },
    ]);
    const { token } = body.status as { token: string };
    const me = await t.send({ token }, 'POST', `${AUTHN}/selfsubjectreviews`, {});
    expect(me.body.status).toMatchObject({ userInfo: { username: 'system:serviceaccount:ns:sa', uid } });
    await t.send(ADMIN, 'DELETE', `${ACCOUNTS}/sa`);
    expect((await t.send({ token }, 'POST', `${AUTHN}/selfsubjectreviews`, {})).code).toBe(401);
  });

  it.each([
    [
      'less than ten minutes',
      { spec: { expirationSeconds: 10 } },
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes',
    ],
    [
      'far too long',
      { spec: { expirationSeconds: 4294967297 } },
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
    [
      'another name',
      { metadata: { name: 'other' } },
      422,
      'TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
    ],
    [
      'an object of another kind',
      { spec: { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } } },
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    ['no object', { spec: { boundObjectRef: {} } }, 400, 'cannot bind token to object of type /, Kind='],
    [
      'an object that does not exist',
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } } },
      404,
      'pods "x" not found',
    ],
    [
      'an object with another UID',
      { spec: { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's', uid: 'w' } } },
      409,
      'Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (w) does not match the UID in record. The object might have been deleted and then recreated',
    ],
    [
      'a Pod of another account',
      { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } } },
      400,
      'cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.',
    ],
  ])('refuse %s', async (_name, body, code, message) => {
    using t = startGuardedServer();
    await withAccount(t);
    await t.send(ADMIN, 'POST', '/api/v1/namespaces/ns/secrets', { metadata: { name: 's' } });
    const containers = [{ name: 'c', image: 'i' }];
    const pod = { metadata: { name: 'p' }, spec: { serviceAccountName: 'other', containers } };
    await t.send(ADMIN, 'POST', '/api/v1/namespaces/ns/pods', pod);
    const response = await t.send(ADMIN, 'POST', `${ACCOUNTS}/sa/token`, body);
    expect([response.code, response.body.message]).toEqual([code, message]);
  });

  it('require permission on the token subresource and an existing account', async () => {
    using t = startGuardedServer();
    expect((await t.send(ADMIN, 'POST', `${ACCOUNTS}/none/token`, {})).body.message).toBe(
      'serviceaccounts "none" not found',
    );
    await grant(t, [{ verbs: ['*'], apiGroups: [''], resources: ['serviceaccounts'] }]);
    expect((await t.send(ann, 'POST', `${ACCOUNTS}/sa/token`, {})).body.message).toContain(
      'cannot create resource "serviceaccounts/token"',
    );
  });

  it('bind to a Pod, and give a token requested by a kubelet a lifetime of one year', async () => {
    using t = startGuardedServer();
    await withAccount(t);
    await t.send(ADMIN, 'POST', '/api/v1/nodes', { metadata: { name: 'n' } });
    const spec = { serviceAccountName: 'sa', nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
    await t.send(ADMIN, 'POST', '/api/v1/namespaces/ns/pods', { metadata: { name: 'p' }, spec });
    const { body } = await t.send(ADMIN, 'POST', `${ACCOUNTS}/sa/token`, {
      spec: { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } },
    });
    const { token, expirationTimestamp } = body.status as { token: string; expirationTimestamp: string };
    expect(expirationTimestamp).toBe('2026-01-01T01:00:07Z');
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, number>;
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(365 * 24 * 3600);
    expect(claims['kubernetes.io']).toMatchObject({
      pod: { name: 'p' },
      node: { name: 'n' },
      warnafter: (claims.iat ?? 0) + 3607,
    });
  });
});

describe('reviews', () => {
  it('are computed and not stored', async () => {
    using t = startGuardedServer();
    const { revision } = t.server.storage;
    const spec = {
      user: 'ann',
      groups: ['system:authenticated'],
      nonResourceAttributes: { verb: 'get', path: '/livez' },
    };
    const { code, body } = await t.send(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, { spec });
    expect([code, body.spec, body.status]).toEqual([
      201,
      spec,
      {
        allowed: true,
        reason: expect.stringMatching(
          /^RBAC: allowed by ClusterRoleBinding "system:(discovery|public-info-viewer)" of /,
        ),
      },
    ]);
    expect([t.server.storage.revision, (await t.send(ADMIN, 'GET', `${AUTHZ}/subjectaccessreviews`)).code]).toEqual([
      revision,
      405,
    ]);
  });

  it('return the user of a valid token, and no user for an invalid token', async () => {
    using t = startGuardedServer();
    const review = async (spec: object): Promise<unknown> =>
      (await t.send(ADMIN, 'POST', `${AUTHN}/tokenreviews`, { spec })).body.status;
    await t.send(ADMIN, 'POST', ACCOUNTS, { metadata: { name: 'sa' } });
    const issued = await t.send(ADMIN, 'POST', `${ACCOUNTS}/sa/token`, { spec: { audiences: ['a'] } });
    const { token } = issued.body.status as { token: string };
    expect(await review({ token, audiences: ['b', 'a'] })).toMatchObject({
      authenticated: true,
      user: { username: 'system:serviceaccount:ns:sa' },
      audiences: ['a'],
    });
    expect(await review({ token })).toEqual({
      user: {},
      error:
        '[invalid bearer token, token audiences ["a"] is invalid for the target audiences ["https://kubernetes.default.svc"]]',
    });
    expect(await review({ token: 'foo' })).toEqual({ user: {}, error: 'invalid bearer token' });
    expect((await t.send(ADMIN, 'POST', `${AUTHN}/tokenreviews`, {})).body.message).toBe(
      'token is required for TokenReview in authentication',
    );
  });

  it('list the rules of the requesting user', async () => {
    using t = startGuardedServer();
    const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['x'] };
    await grant(t, [rule]);
    const { body } = await t.send(ann, 'POST', `${AUTHZ}/selfsubjectrulesreviews`, { spec: { namespace: 'ns' } });
    const { resourceRules, nonResourceRules, incomplete } = body.status as Record<string, unknown[]>;
    expect(resourceRules).toHaveLength(3);
    expect(resourceRules).toContainEqual(rule);
    expect([nonResourceRules?.length, incomplete]).toEqual([2, false]);
    expect((await t.send(ann, 'POST', `${AUTHZ}/selfsubjectrulesreviews`, {})).body.message).toBe(
      'no namespace on request',
    );
  });
});

describe('rights', () => {
  const MAKER: PolicyRule[] = [
    {
      verbs: ['create', 'patch', 'update'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
    },
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
  ];
  const secrets: PolicyRule = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };
  const role = (name: string, ...rules: PolicyRule[]) => ({ metadata: { name }, rules });

  it('cannot be granted by a user who does not hold them, by any kind of write', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    const refused = {
      code: 403,
      body: {
        message:
          'clusterroles.rbac.authorization.k8s.io "x" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}',
      },
    };
    const pods = role('x', ...MAKER.slice(1));
    const more = role('x', ...MAKER.slice(1), secrets);
    const url = `${RBAC}/clusterroles`;
    const apply = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', ...more };
    const applying = [['content-type', 'application/apply-patch+yaml']] as const;
    expect(await t.send(ann, 'POST', url, more)).toMatchObject(refused);
    expect(await t.send(ann, 'POST', `${url}?dryRun=All`, more)).toMatchObject(refused);
    expect(await t.send(ann, 'PATCH', `${url}/x?fieldManager=f`, apply, applying)).toMatchObject(refused);
    expect((await t.send(ann, 'POST', url, pods)).code).toBe(201);
    expect(await t.send(ann, 'PUT', `${url}/x`, more)).toMatchObject(refused);
    expect(await t.send(ann, 'PATCH', `${url}/x`, { rules: more.rules }, MERGE)).toMatchObject(refused);
    expect(await t.send(ann, 'PATCH', `${url}/x?fieldManager=f&force=true`, apply, applying)).toMatchObject(refused);
    expect((await rulesOf(t, 'x'))?.length).toBe(1);
  });

  it('of a role can be bound only by a user who holds them or may bind the role', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, role('secrets', secrets));
    const bind = (name: string): Promise<GuardedResponse> =>
      t.send(ann, 'POST', `${RBAC}/namespaces/ns/rolebindings`, {
        metadata: { name },
        roleRef: roleRef('secrets'),
        subjects: toAnn,
      });
    expect((await bind('a')).body.message).toContain('not currently held:\n{APIGroups:[""], Resources:["secrets"]');
    await grant(
      t,
      [
        {
          verbs: ['bind'],
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          resourceNames: ['other'],
        },
      ],
      'g1',
    );
    expect((await bind('a')).code).toBe(403);
    await grant(
      t,
      [
        {
          verbs: ['bind'],
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          resourceNames: ['secrets'],
        },
      ],
      'g2',
    );
    expect((await bind('a')).code).toBe(201);
  });

  it('of a missing role cannot be bound', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    const binding = { metadata: { name: 'a' }, roleRef: roleRef('no'), subjects: toAnn };
    const response = await t.send(ann, 'POST', `${RBAC}/clusterrolebindings`, binding);
    expect([response.code, response.body.message]).toEqual([
      404,
      'clusterrolebindings.rbac.authorization.k8s.io "no" not found',
    ]);
    expect((await t.send(ADMIN, 'POST', `${RBAC}/clusterrolebindings`, binding)).code).toBe(201);
  });

  it('to escalate named roles allow updating them but not creating them', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    await grant(
      t,
      [
        {
          verbs: ['escalate'],
          apiGroups: ['rbac.authorization.k8s.io'],
          resources: ['clusterroles'],
          resourceNames: ['x'],
        },
      ],
      'g',
    );
    expect((await t.send(ann, 'POST', `${RBAC}/clusterroles`, role('x', secrets))).code).toBe(403);
    await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, role('x'));
    expect((await t.send(ann, 'PATCH', `${RBAC}/clusterroles/x`, { rules: [secrets] }, MERGE)).code).toBe(200);
  });

  it('to use an aggregationRule require cluster-admin privileges', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    const aggregating = {
      metadata: { name: 'x' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    };
    expect((await t.send(ann, 'POST', `${RBAC}/clusterroles`, aggregating)).body.message).toBe(
      'clusterroles.rbac.authorization.k8s.io "x" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
    await grant(
      t,
      [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ],
      'root',
    );
    expect((await t.send(ann, 'POST', `${RBAC}/clusterroles`, aggregating)).code).toBe(201);
  });

  it('are not required to remove finalizers', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, {
      ...role('x', secrets),
      metadata: { name: 'x', finalizers: ['a/b'] },
    });
    const labelled = await t.send(ann, 'PATCH', `${RBAC}/clusterroles/x`, { metadata: { labels: { a: 'b' } } }, MERGE);
    expect(labelled.code).toBe(403);
    const unfinalized = await t.send(ann, 'PATCH', `${RBAC}/clusterroles/x`, { metadata: { finalizers: null } }, MERGE);
    expect(unfinalized.code).toBe(200);
  });

  it('are evaluated for the impersonated user', async () => {
    using t = startGuardedServer();
    await grant(t, MAKER);
    const as = [['impersonate-user', 'ann']] as const;
    expect((await t.send(ADMIN, 'POST', `${RBAC}/clusterroles`, role('x', secrets), as)).code).toBe(403);
    expect((await t.send(ann, 'GET', '/api/v1/pods', undefined, [['impersonate-user', 'admin']])).body.message).toBe(
      'users "admin" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
  });
});
