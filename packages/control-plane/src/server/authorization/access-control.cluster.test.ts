import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeconfigDocument } from '../../kubeconfig.ts';
import { type Cluster, cluster } from '../../testing/cluster.ts';
import { waitFor } from '../../testing/wait-for.ts';
import {
  ADMIN,
  type Ask,
  type Asker,
  type GuardedServer,
  startGuardedServer,
  type Told,
} from './guarded-server.test-support.ts';

/**
 * The same roles on both servers and then the same questions: what the real one says is right, its wording included.
 */
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const AUTHN = '/apis/authentication.k8s.io/v1';
const AUTHZ = '/apis/authorization.k8s.io/v1';

let c: Cluster;
let ours: GuardedServer;
let real: Ask;
/** Begins every name that is not in the namespace. */
let own: string;

const user = (name: string): string => `${own}:${name}`;
const url = (path: string): string => path.replaceAll('NS', c.namespace).replaceAll('OWN', own);
/** Texts may hold NS for the namespace and OWN for what names begin with. */
const filled = <T>(value: T): T => JSON.parse(url(JSON.stringify(value))) as T;

async function both(
  who: Asker,
  method: string,
  path: string,
  body?: unknown,
  headers?: readonly (readonly [string, string])[],
): Promise<{ real: Told; ours: Told }> {
  const asked = [
    who,
    method,
    url(path),
    body === undefined ? undefined : filled(body),
    headers && filled(headers),
  ] as const;
  return { real: await real(...asked), ours: await ours.ask(...asked) };
}

/** Written to both servers by the admin before anything is asked. */
const POLICY: readonly (readonly [path: string, object: object])[] = [
  cluster_('reader', [
    { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', 'pods/log', 'deployments'] },
  ]),
  cluster_('scaler', [{ verbs: ['update', 'patch'], apiGroups: ['*'], resources: ['*/scale'] }]),
  cluster_('paths', [{ verbs: ['get', 'post'], nonResourceURLs: ['/metrics', '/logs/*', '/deb*'] }]),
  cluster_('all', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
  cluster_('root', [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]),
  cluster_('maker', [
    {
      verbs: ['create', 'patch', 'update'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
    },
    { verbs: ['get'], apiGroups: [''], resources: ['pods', '*/status'] },
    {
      verbs: ['bind'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      resourceNames: ['OWN:scaler'],
    },
    {
      verbs: ['escalate'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles'],
      resourceNames: ['escalated'],
    },
  ]),
  cluster_('impersonator', [
    { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['bob'] },
    { verbs: ['impersonate'], apiGroups: [''], resources: ['groups'], resourceNames: ['g'] },
    {
      verbs: ['impersonate'],
      apiGroups: ['authentication.k8s.io'],
      resources: ['userextras/scopes', 'uids'],
      resourceNames: ['a'],
    },
  ]),
  role('secrets', [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] }]),
  role('escalated', []),
  clusterBinding('reader', [
    { kind: 'User', name: 'OWN:cat' },
    { kind: 'Group', name: 'OWN:readers' },
  ]),
  clusterBinding('scaler', [{ kind: 'ServiceAccount', name: 'scaler', namespace: 'NS' }]),
  clusterBinding('paths', [{ kind: 'User', name: 'OWN:ann' }]),
  clusterBinding('maker', [{ kind: 'User', name: 'OWN:maker' }]),
  clusterBinding('impersonator', [{ kind: 'User', name: 'OWN:actor' }]),
  clusterBinding('root', [{ kind: 'User', name: 'OWN:root' }]),
  binding('secrets', 'Role', 'secrets', [
    { kind: 'User', name: 'OWN:ann' },
    { kind: 'ServiceAccount', name: 'near' },
  ]),
  binding('all', 'ClusterRole', 'OWN:all', [{ kind: 'Group', name: 'OWN:owners' }]),
  binding('dangling', 'ClusterRole', 'OWN:none', [{ kind: 'User', name: 'OWN:lost' }]),
  binding('dangling-too', 'Role', 'none', [{ kind: 'User', name: 'OWN:stray' }]),
];

function cluster_(name: string, rules: readonly object[]): readonly [string, object] {
  return [`${RBAC}/clusterroles`, { metadata: { name: `OWN:${name}` }, rules }];
}

function role(name: string, rules: readonly object[]): readonly [string, object] {
  return [`${RBAC}/namespaces/NS/roles`, { metadata: { name }, rules }];
}

function subjectsOf(
  subjects: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[],
): object[] {
  return subjects.map((subject) => {
    if (subject.kind !== 'ServiceAccount') return { apiGroup: 'rbac.authorization.k8s.io', ...subject };
    return { namespace: 'NS', ...subject };
  });
}

function clusterBinding(name: string, subjects: Parameters<typeof subjectsOf>[0]): readonly [string, object] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `OWN:${name}` };
  return [
    `${RBAC}/clusterrolebindings`,
    { metadata: { name: `OWN:${name}` }, roleRef, subjects: subjectsOf(subjects) },
  ];
}

function binding(
  name: string,
  kind: string,
  of: string,
  subjects: Parameters<typeof subjectsOf>[0],
): readonly [string, object] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: of };
  return [`${RBAC}/namespaces/NS/rolebindings`, { metadata: { name }, roleRef, subjects: subjectsOf(subjects) }];
}

/** askWith sends requests over the network, as whom the kubeconfigs are for. */
function askWith(kubeconfigFor: (who: Asker) => Promise<KubeconfigDocument>): Ask {
  const known = new Map<string, Promise<KubeconfigDocument>>();
  return async (who, method, path, body, headers = []) => {
    const key = JSON.stringify(who ?? null);
    const kubeconfig = known.get(key) ?? kubeconfigFor(who);
    known.set(key, kubeconfig);
    const { clusters, users } = await kubeconfig;
    const credentials = users[0].user;
    const lines: Record<string, string | string[]> = { 'content-type': 'application/json' };
    for (const [name, value] of headers)
      lines[name] = name in lines && name !== 'content-type' ? [lines[name] ?? [], value].flat() : value;
    const text = body === undefined ? '' : JSON.stringify(body);
    // Node says how long a body is for some methods only.
    lines['content-length'] = String(Buffer.byteLength(text));
    if (who && 'token' in credentials) lines.authorization = `Bearer ${credentials.token}`;
    const shown =
      who && !('token' in credentials)
        ? { cert: decode(credentials['client-certificate-data']), key: decode(credentials['client-key-data']) }
        : {};
    return new Promise((resolve, reject) => {
      const ca = decode(clusters[0].cluster['certificate-authority-data']);
      const sent = request(
        `${clusters[0].cluster.server}${path}`,
        { method, headers: lines, ca, ...shown },
        (answer) => {
          let told = '';
          answer.setEncoding('utf8').on('data', (chunk: string) => (told += chunk));
          answer.on('end', () => resolve({ code: answer.statusCode ?? 0, body: bodyOf(told) }));
        },
      );
      sent.on('error', reject).end(text);
    });
  };
}

/** What is no JSON is told as a message. */
function bodyOf(text: string): Told['body'] {
  return (text.startsWith('{') ? JSON.parse(text) : { message: text }) as Told['body'];
}

function decode(base64: string): Buffer {
  return Buffer.from(base64, 'base64');
}

beforeAll(async () => {
  c = await cluster({ prefix: 'access' });
  own = c.uniqueName('access');
  ours = startGuardedServer();
  real = askWith((who) => {
    if (who && 'user' in who && who.user !== 'admin') return c.kubeconfig({ user: who.user, groups: who.groups ?? [] });
    return c.kubeconfig('admin');
  });
  for (const [path, object] of POLICY) {
    const { real: there, ours: here } = await both(ADMIN, 'POST', path, object);
    expect([path, there.code, here.code]).toEqual([path, 201, 201]);
    const name = String(there.body.metadata?.name);
    c.onDispose(() => real(ADMIN, 'DELETE', url(`${path}/${name}`)));
  }
  // The last of each kind of binding: the real server has then seen all before them, and the roles a little earlier.
  const knows = (spec: object) => async (): Promise<boolean> => {
    const { body } = await real(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, filled({ spec }));
    const { allowed, reason = '' } = body.status as { allowed: boolean; reason?: string };
    return allowed || reason.includes('"none" not found');
  };
  await waitFor('the cluster roles', knows({ user: 'OWN:root', nonResourceAttributes: { verb: 'get', path: '/x' } }));
  await waitFor(
    'the roles',
    knows({ user: 'OWN:stray', resourceAttributes: { verb: 'get', resource: 'x', namespace: 'NS' } }),
  );
});

afterAll(async () => {
  ours?.[Symbol.dispose]();
  await c?.[Symbol.asyncDispose]();
});

const USERS: readonly object[] = [
  { user: 'OWN:cat' },
  { user: 'OWN:ann', groups: ['system:authenticated'] },
  { user: 'OWN:nobody', groups: ['OWN:readers'] },
  { groups: ['OWN:owners'] },
  { user: 'OWN:lost' },
  { user: 'OWN:stray' },
  { user: 'system:serviceaccount:NS:scaler' },
  { user: 'system:serviceaccount:NS:near', groups: ['system:serviceaccounts'] },
  { user: 'system:serviceaccount:kube-system:job-controller' },
  { user: 'OWN:x', groups: ['system:masters'] },
  { user: 'OWN:OWN' },
];

const RESOURCES: readonly object[] = [
  { verb: 'get', resource: 'pods', namespace: 'NS' },
  { verb: 'list', resource: 'pods' },
  { verb: 'get', resource: 'pods', subresource: 'log', namespace: 'NS', name: 'x' },
  { verb: 'get', resource: 'pods', subresource: 'exec', namespace: 'NS', name: 'x' },
  { verb: 'get', group: 'apps', resource: 'deployments', namespace: 'other' },
  { verb: 'watch', group: 'apps', resource: 'deployments' },
  { verb: 'patch', group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'NS' },
  { verb: 'patch', group: 'any.example', resource: 'things', subresource: 'scale' },
  { verb: 'get', resource: 'secrets', namespace: 'NS', name: 'a' },
  { verb: 'get', resource: 'secrets', namespace: 'NS', name: 'c' },
  { verb: 'get', resource: 'secrets', namespace: 'NS' },
  { verb: 'get', resource: 'secrets', namespace: 'default', name: 'a' },
  { verb: '*', group: '*', resource: '*', namespace: 'NS' },
  { verb: '*', group: '*', resource: '*' },
  { verb: 'update', group: 'batch', resource: 'jobs', subresource: 'status' },
  { verb: 'constructor', resource: '__proto__' },
  {},
];

const PATHS = [
  '/metrics',
  '/metrics/',
  '/logs',
  '/logs/x',
  '/debug',
  '/healthz',
  '/api',
  '/apis/apps',
  '/',
  '',
  '*',
  '/openid/v1/jwks',
];

describe('access reviews are answered as by the real server', () => {
  it.each(USERS)('about objects, for %j', async (spec) => {
    for (const resourceAttributes of RESOURCES) {
      const answers = await both(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, {
        spec: { ...spec, resourceAttributes },
      });
      expect([resourceAttributes, answers.ours.code, answers.ours.body.status]).toEqual([
        resourceAttributes,
        answers.real.code,
        answers.real.body.status,
      ]);
    }
  });

  it.each(USERS)('about paths, for %j', async (spec) => {
    for (const path of PATHS) {
      for (const verb of ['get', 'post']) {
        const nonResourceAttributes = { path, verb };
        const answers = await both(ADMIN, 'POST', `${AUTHZ}/subjectaccessreviews`, {
          spec: { ...spec, nonResourceAttributes },
        });
        const [there, here] = [answers.real, answers.ours].map(
          ({ body }) => body.status as { allowed: boolean; reason?: string },
        );
        expect([path, verb, here?.allowed]).toEqual([path, verb, there?.allowed]);
        // Discovery and public information overlap, and the real server takes whichever comes first.
        if (!there?.reason?.includes('system:')) expect(here).toEqual(there);
      }
    }
  });

  it.each<[string, string, object]>([
    ['an empty review', 'subjectaccessreviews', {}],
    ['nobody', 'subjectaccessreviews', { spec: { resourceAttributes: { verb: 'get' } } }],
    [
      'two questions',
      'subjectaccessreviews',
      { spec: { user: 'x', resourceAttributes: {}, nonResourceAttributes: { path: '/<x>' } } },
    ],
    ['an answer', 'subjectaccessreviews', { spec: { user: 'x', resourceAttributes: {} }, status: { allowed: true } }],
    [
      'selectors',
      'subjectaccessreviews',
      {
        spec: {
          user: 'x',
          resourceAttributes: {
            fieldSelector: {
              rawSelector: 'a=b',
              requirements: [
                { key: '', operator: 'In' },
                { key: 'a', operator: 'Exists', values: ['b'] },
              ],
            },
            labelSelector: {},
          },
        },
      },
    ],
    [
      'label selectors',
      'subjectaccessreviews',
      {
        spec: {
          user: 'x',
          resourceAttributes: {
            labelSelector: {
              requirements: [
                { key: 'a b', operator: 'In', values: ['c'] },
                { key: '', operator: 'NotIn' },
              ],
            },
          },
        },
      },
    ],
    [
      'selectors that nobody reads',
      'subjectaccessreviews',
      {
        spec: {
          user: 'x',
          resourceAttributes: {
            fieldSelector: {
              requirements: [
                { key: 'a', operator: 'Exists' },
                { key: 'a', operator: 'In', values: ['c'] },
              ],
            },
            labelSelector: { rawSelector: 'a in (' },
          },
        },
      },
    ],
    ['an empty review of oneself', 'selfsubjectaccessreviews', {}],
    [
      'a review of oneself',
      'selfsubjectaccessreviews',
      { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
    ],
    [
      'another namespace',
      'namespaces/NS/localsubjectaccessreviews',
      { spec: { user: 'x', resourceAttributes: { namespace: 'other' } } },
    ],
    [
      'a path in a namespace',
      'namespaces/NS/localsubjectaccessreviews',
      { spec: { user: 'x', nonResourceAttributes: { verb: 'get' } } },
    ],
    [
      'a namespace',
      'namespaces/NS/localsubjectaccessreviews',
      {
        spec: { user: 'OWN:ann', resourceAttributes: { namespace: 'NS', verb: 'get', resource: 'secrets', name: 'a' } },
      },
    ],
    ['rules of no namespace', 'selfsubjectrulesreviews', {}],
  ])('whatever is asked: %s', async (_name, resource, body) => {
    const answers = await both(ADMIN, 'POST', `${AUTHZ}/${resource}`, body);
    expect([answers.ours.code, essential(answers.ours)]).toEqual([answers.real.code, essential(answers.real)]);
  });

  it.each(['cat', 'ann', 'lost', 'maker'])('about all that %s may do', async (name) => {
    const { real: there, ours: here } = await both({ user: user(name) }, 'POST', `${AUTHZ}/selfsubjectrulesreviews`, {
      spec: { namespace: 'NS' },
    });
    const sorted = ({ body }: Told): object => {
      const status = body.status as Record<string, object[]>;
      const inOrder = (rules: readonly object[] = []): string[] =>
        rules.map((rule) => JSON.stringify(Object.entries(rule).sort())).sort();
      return {
        ...body,
        status: {
          ...status,
          resourceRules: inOrder(status.resourceRules),
          nonResourceRules: inOrder(status.nonResourceRules),
        },
      };
    };
    expect(sorted(here)).toEqual(sorted(there));
  });
});

describe('refusals read as those of the real server', () => {
  it.each([
    ['GET', '/api/v1/pods'],
    ['GET', '/api/v1/namespaces/NS/pods/x/log'],
    ['GET', '/api/v1/namespaces/NS'],
    ['GET', '/api/v1/namespaces/NS/status'],
    ['PUT', '/apis/apps/v1/namespaces/NS/deployments/x/scale'],
    ['DELETE', '/apis/apps/v1/namespaces/NS/deployments'],
    ['GET', '/apis/nope.example/v1/things?watch=true'],
    ['GET', '/metrics'],
    ['POST', '/version'],
    ['POST', `${AUTHN}/tokenreviews`],
  ])('of %s %s', async (method, path) => {
    for (const who of [undefined, { user: user('lost') }]) {
      const answers = await both(who, method, path, method === 'GET' ? undefined : {});
      expect(answers.ours).toEqual(answers.real);
    }
  });

  it.each<[string, (readonly [string, string])[]]>([
    [
      'somebody allowed',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-group', 'g'],
        ['impersonate-uid', 'a'],
        ['impersonate-extra-scopes', 'a'],
      ],
    ],
    ['somebody else', [['impersonate-user', 'al']]],
    ['a ServiceAccount', [['impersonate-user', 'system:serviceaccount:NS:x']]],
    [
      'one group of two',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-group', 'g'],
        ['impersonate-group', 'h, i'],
      ],
    ],
    [
      'another value',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-extra-scopes', 'b'],
      ],
    ],
    [
      'another key',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-extra-foo.com%2FBar', 'a'],
      ],
    ],
    [
      'another uid',
      [
        ['impersonate-user', 'bob'],
        ['impersonate-uid', 'b'],
      ],
    ],
    [
      'nobody',
      [
        ['impersonate-group', 'g'],
        ['impersonate-uid', 'a'],
      ],
    ],
  ])('to impersonate %s', async (_name, headers) => {
    const answers = await both({ user: user('actor') }, 'POST', `${AUTHN}/selfsubjectreviews`, {}, headers);
    expect([answers.ours.code, essential(answers.ours)]).toEqual([answers.real.code, essential(answers.real)]);
  });

  const clusterRole = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name });
  it.each<[string, string, string, object, ('merge' | undefined)?]>([
    [
      "a role within one's rights",
      'POST',
      'namespaces/NS/roles',
      {
        metadata: { name: 'within' },
        rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods', 'pods/status', 'nodes/status'] }],
      },
    ],
    [
      'a role beyond them',
      'POST',
      'namespaces/NS/roles',
      {
        metadata: { name: 'beyond' },
        rules: [
          { verbs: ['get', 'delete'], apiGroups: ['', 'apps'], resources: ['pods', 'secrets'] },
          { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
        ],
      },
    ],
    [
      'a role for everything',
      'POST',
      'namespaces/NS/roles',
      { metadata: { name: 'everything' }, rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
    ],
    [
      'a cluster role for paths',
      'POST',
      'clusterroles',
      { metadata: { name: 'OWN:x' }, rules: [{ verbs: ['get', 'put'], nonResourceURLs: ['/metrics', '/api/*'] }] },
    ],
    [
      'an aggregated role',
      'POST',
      'clusterroles',
      { metadata: { name: 'OWN:x' }, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } },
    ],
    [
      "a change beyond one's rights",
      'PATCH',
      'namespaces/NS/roles/secrets',
      { metadata: { labels: { a: 'b' } } },
      'merge',
    ],
    ['a finalizer', 'PATCH', 'namespaces/NS/roles/secrets', { metadata: { finalizers: ['a/b'] } }, 'merge'],
    ['none', 'PATCH', 'namespaces/NS/roles/secrets', { metadata: { finalizers: null } }, 'merge'],
    [
      'a change of a role that one may escalate',
      'PATCH',
      'namespaces/NS/roles/escalated',
      { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }] },
      'merge',
    ],
    [
      'a binding to a role that one may bind',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'bound' }, roleRef: clusterRole('OWN:scaler') },
    ],
    [
      'a binding to another',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'unbound' }, roleRef: clusterRole('OWN:reader') },
    ],
    [
      'a binding to everything',
      'POST',
      'clusterrolebindings',
      { metadata: { name: 'OWN:unbound' }, roleRef: clusterRole('cluster-admin') },
    ],
    [
      'a binding to what may view',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'viewer' }, roleRef: clusterRole('view') },
    ],
    [
      'a binding to nothing',
      'POST',
      'namespaces/NS/rolebindings',
      { metadata: { name: 'unbound' }, roleRef: clusterRole('OWN:none') },
    ],
  ])('to give away %s', async (_name, method, path, body, patch) => {
    const headers = patch ? [['content-type', 'application/merge-patch+json'] as const] : [];
    const answers = await both({ user: user('maker') }, method, `${RBAC}/${path}`, body, headers);
    expect([answers.ours.code, essential(answers.ours)]).toEqual([answers.real.code, essential(answers.real)]);
  });
});

describe('bootstrap roles', () => {
  it('have the rules, labels and subjects that they have on the real server', async () => {
    for (const plural of [
      'clusterroles',
      'clusterrolebindings',
      'namespaces/kube-system/roles',
      'namespaces/kube-system/rolebindings',
    ]) {
      const query = '?labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults';
      const lists = await both(ADMIN, 'GET', `${RBAC}/${plural}${query}`);
      const there = new Map(itemsOf(lists.real).map((item) => [nameOf(item), item]));
      const here = itemsOf(lists.ours);
      expect(here.length).toBeGreaterThan(0);
      for (const item of here) expect(policyOf(item)).toEqual(policyOf(there.get(nameOf(item)) ?? {}));
    }
  });
});

interface Item {
  readonly metadata?: { readonly name?: string; readonly labels?: object; readonly annotations?: object };
  readonly [field: string]: unknown;
}

function itemsOf({ body }: Told): readonly Item[] {
  return body.items as readonly Item[];
}

function nameOf({ metadata }: Item): string {
  return metadata?.name ?? '';
}

function policyOf({
  metadata: { name, labels, annotations } = {},
  rules,
  roleRef,
  subjects,
  aggregationRule,
}: Item): object {
  return { name, labels, annotations, rules, roleRef, subjects, aggregationRule };
}

/** What does not depend on the server: no times, versions and ids. */
function essential({ body }: Told): object {
  const { name, namespace, labels, finalizers } = body.metadata ?? {};
  return { ...body, metadata: { name, namespace, labels, finalizers } };
}
