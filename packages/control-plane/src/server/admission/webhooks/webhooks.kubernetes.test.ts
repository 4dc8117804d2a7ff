import { systemClock } from '@bowline/machinery';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { waitFor } from '../../../testing/wait-for.ts';
import { CREDENTIAL_ID } from '../../authentication/user-info.ts';
import { type BothServers, bothServers, essential } from '../../authorization/both-servers.test-support.ts';
import { ADMIN } from '../../authorization/guarded-server.test-support.ts';
import {
  patch,
  type Reply,
  type ReviewRequest,
  startWebhookServer,
  type WebhookServer,
} from './webhook-server.test-support.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/NS/configmaps';
const LABEL = 'case.ex.test';

const allowed: Reply = { response: { allowed: true } };
const REPLIES: Readonly<Record<string, (request: ReviewRequest) => Reply>> = {
  '/allow': () => allowed,
  '/allow-too': () => allowed,
  '/deny': () => ({
    response: { allowed: false, status: { message: 'no', code: 418, reason: 'Teapot', details: { name: 'x' } } },
  }),
  '/deny-reason': () => ({ response: { allowed: false, status: { reason: 'Because' } } }),
  '/deny-silently': () => ({ response: { allowed: false } }),
  '/deny-kindly': () => ({ response: { allowed: false, status: { code: 200, message: 'fine' } } }),
  '/patch': () => patch({ op: 'add', path: '/data', value: { a: 'patched' } }),
  '/patch-nothing': () => patch({ op: 'replace', path: '/kind', value: 'ConfigMap' }),
  '/patch-none': () => patch(),
  '/patch-missing': () => patch({ op: 'remove', path: '/data/none' }),
  '/patch-type': () => patch({ op: 'add', path: '/data', value: { a: 1 } }),
  '/patch-unknown': () => patch({ op: 'add', path: '/bogus', value: 1 }),
  '/patch-meta': () =>
    patch(
      { op: 'add', path: '/metadata/uid', value: 'mine' },
      { op: 'add', path: '/metadata/finalizers', value: ['ex.test/kept'] },
      { op: 'add', path: '/metadata/creationTimestamp', value: '2001-01-01T00:00:00Z' },
    ),
  '/patch-namespace': () => patch({ op: 'replace', path: '/metadata/namespace', value: 'default' }),
  '/patch-fields': () =>
    patch({
      op: 'replace',
      path: '/metadata/managedFields',
      value: [{ manager: 'x', operation: 'Odd', apiVersion: 'v1' }],
    }),
  '/no-patch-type': () => ({ response: { allowed: true, patch: Buffer.from('[]').toString('base64') } }),
  '/no-patch': () => ({ response: { allowed: true, patchType: 'JSONPatch' } }),
  '/odd-patch-type': () => ({
    response: { allowed: true, patchType: 'Odd', patch: Buffer.from('[{}]').toString('base64') },
  }),
  '/wrong-uid': () => ({ response: { allowed: true, uid: 'wrong' } }),
  '/empty': () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
  }),
  '/wrong-kind': (request) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', response: { uid: request.uid, allowed: true } }),
  }),
  '/status-500': () => ({ status: 500, body: 'broken "here"' }),
  '/status-418': () => ({ status: 418 }),
  '/status-503': () => ({ status: 503 }),
  '/status-403': () => ({ status: 403, body: 'not you' }),
  '/silence': () => 'silence',
  '/tell-mutating': () => allowed,
  '/tell-validating': () => allowed,
};

interface Case {
  readonly name: string;
  readonly type?: 'mutating' | 'validating';
  readonly path?: string;
  readonly more?: object;
}

/** One configuration of each type holds all of them; the label of an object selects the webhook that is called. */
const CASES: readonly Case[] = [
  ...Object.keys(REPLIES)
    .filter((path) => path !== '/silence' && !path.startsWith('/tell'))
    .flatMap((path): Case[] => [
      { name: `m${path.replace('/', '-')}`, type: 'mutating', path },
      { name: `v${path.replace('/', '-')}`, type: 'validating', path },
    ]),
  { name: 'not-found', path: '/nothing' },
  { name: 'ignored', path: '/status-500', more: { failurePolicy: 'Ignore' } },
  { name: 'ignored-but-denied', path: '/deny', more: { failurePolicy: 'Ignore' } },
  { name: 'times-out', path: '/silence', more: { timeoutSeconds: 1 } },
  { name: 'nobody-listens', more: { clientConfig: { url: 'https://127.0.0.1:1/x' } } },
  { name: 'untrusted', more: { clientConfig: { url: 'URL/allow' } } },
  { name: 'no-service', more: { clientConfig: { service: { namespace: 'NS', name: 'none', path: '/x' } } } },
  { name: 'no-port', more: { clientConfig: { service: { namespace: 'NS', name: 'headed', path: '/x', port: 99 } } } },
  { name: 'headless', more: { clientConfig: { service: { namespace: 'NS', name: 'headless' } } } },
  { name: 'side-effects', path: '/allow', more: { sideEffects: 'NoneOnDryRun' } },
  {
    name: 'false-condition',
    path: '/deny',
    more: {
      matchConditions: [
        { name: 'a', expression: 'object.data.a == "x"' },
        { name: 'b', expression: 'object.nothing == 1' },
      ],
    },
  },
  {
    name: 'true-condition',
    path: '/deny',
    more: {
      matchConditions: [
        { name: 'a', expression: 'request.operation == "CREATE" && request.userInfo.username != ""' },
        { name: 'b', expression: 'oldObject == null && object.metadata.namespace == "NS"' },
      ],
    },
  },
  {
    name: 'right-of-the-writer',
    path: '/deny',
    more: {
      matchConditions: [
        { name: 'a', expression: 'authorizer.requestResource.check("create").allowed()' },
        { name: 'b', expression: 'authorizer.path("/healthz").check("get").reason() == ""' },
      ],
    },
  },
  {
    name: 'right-of-an-account',
    path: '/deny',
    more: {
      matchConditions: [
        {
          name: 'a',
          expression:
            'authorizer.serviceAccount("NS", "a").group("").resource("configmaps").namespace("NS").check("create").allowed()',
        },
      ],
    },
  },
  {
    name: 'right-to-nothing',
    path: '/deny',
    more: { matchConditions: [{ name: 'a', expression: 'authorizer.path("").check("get").allowed()' }] },
  },
  {
    name: 'failing-condition',
    path: '/deny',
    more: { matchConditions: [{ name: 'a', expression: 'object.data.none == "x"' }] },
  },
  {
    name: 'ignored-condition',
    path: '/deny',
    more: { failurePolicy: 'Ignore', matchConditions: [{ name: 'a', expression: 'object.data.none == "x"' }] },
  },
  { name: 'other-operation', path: '/deny', more: { rules: rulesFor('configmaps', ['UPDATE']) } },
  {
    name: 'other-version',
    path: '/deny',
    more: { rules: [{ apiGroups: [''], apiVersions: ['v2'], operations: ['*'], resources: ['configmaps'] }] },
  },
  {
    name: 'wildcards',
    path: '/deny',
    more: { rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }] },
  },
  { name: 'subresources-only', path: '/deny', more: { rules: rulesFor('*/*', ['*']) } },
  { name: 'parts-only', path: '/deny', more: { rules: rulesFor('configmaps/status', ['*']) } },
  {
    name: 'cluster-scope',
    path: '/deny',
    more: { rules: [{ ...rulesFor('configmaps', ['*'])[0], scope: 'Cluster' }] },
  },
  {
    name: 'namespaced-scope',
    path: '/deny',
    more: { rules: [{ ...rulesFor('configmaps', ['*'])[0], scope: 'Namespaced' }] },
  },
  { name: 'elsewhere', path: '/deny', more: { namespaceSelector: { matchLabels: { none: 'such' } } } },
];

function rulesFor(resource: string, operations: readonly string[]): object[] {
  return [{ apiGroups: [''], apiVersions: ['v1'], operations, resources: [resource] }];
}

const OTHERS: ReadonlySet<string> = new Set([
  'managedFields',
  'resourceVersion',
  'status',
  'deployment.kubernetes.io/revision',
  'test.bowline.dev/cluster',
  CREDENTIAL_ID,
]);

const RECORDING_CASES: readonly Case[] = (['mutating', 'validating'] as const).map((type) => ({
  name: `tell-${type}`,
  type,
  path: `/tell-${type}`,
  more: {
    rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
    objectSelector: {},
  },
}));

let servers: BothServers;
let server: WebhookServer;
beforeAll(async () => {
  servers = await bothServers({ admits: true, clock: systemClock });
  server = await startWebhookServer(REPLIES);
  // The placeholders are replaced wherever they occur, also in a certificate.
  while (/NS|OWN|URL/.test(server.caBundle)) {
    await server[Symbol.asyncDispose]();
    server = await startWebhookServer(REPLIES);
  }
  for (const [name, spec] of [
    ['headed', { ports: [{ port: 443 }] }],
    ['headless', { clusterIP: 'None', ports: [{ port: 443 }] }],
  ] as const) {
    await servers.both(ADMIN, 'POST', '/api/v1/namespaces/NS/services', { metadata: { name }, spec });
  }
  for (const type of ['mutating', 'validating'] as const) {
    const path = `${CONFIGURATIONS}/${type}webhookconfigurations`;
    const own = [...CASES, ...RECORDING_CASES].filter((each) => (each.type ?? 'validating') === type);
    const webhooks = [...own, { name: `probe-${type}`, path: '/deny' }].map(webhookOf);
    const { real, ours } = await servers.both(ADMIN, 'POST', path, { metadata: { name: 'OWN' }, webhooks });
    expect([real.code, ours.code], JSON.stringify([real.body.message, ours.body.message])).toEqual([201, 201]);
    servers.onDispose(() => servers.both(ADMIN, 'DELETE', `${path}/OWN`));
    await waitFor(`the ${type} webhooks`, async () => (await create(`probe-${type}`)).real.code === 418);
  }
});
afterAll(async () => {
  await servers?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});
beforeEach(() => server.clearRequests());

function webhookOf({ name, path, more }: Case): object {
  const webhook = {
    name: `${name}.ex.test`,
    admissionReviewVersions: ['v1'],
    sideEffects: 'None',
    clientConfig: { url: `${server.url}${path}`, caBundle: server.caBundle },
    rules: rulesFor('configmaps', ['*']),
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'NS' } },
    objectSelector: { matchLabels: { [LABEL]: name } },
    ...more,
  };
  return JSON.parse(JSON.stringify(webhook).replace('URL', server.url)) as object;
}

function create(name: string, { query = '', data = { a: '1' } } = {}) {
  const body = { metadata: { generateName: 'made-', labels: { [LABEL]: name } }, data };
  return servers.both(ADMIN, 'POST', `${MAPS}${query}`, body);
}

/** comparable returns both answers without values that differ between objects. */
function comparable(received: Parameters<typeof essential>[0]): unknown {
  return JSON.parse(
    JSON.stringify(essential(received))
      .replaceAll(/made-[a-z0-9]{5}/g, 'made-NNNNN')
      .replaceAll(/"uid=[^"]*"|[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
      // The real server includes a location in its source, and its library words the failure of a patch
      // differently.
      .replaceAll(/ in scheme \\".*?\\"/g, '')
      .replaceAll(/error in remove.*?missing value|operation 0 .*?\\"none\\" does not exist/g, 'PATCH'),
  );
}

describe('webhooks decide as on the real server', () => {
  it.each(CASES.map(({ name }) => name))('%s', async (name) => {
    const { real, ours } = await create(name);
    expect(comparable(ours)).toEqual(comparable(real));
  });

  it.each(['v-allow', 'side-effects', 'm-patch'])('%s in a dry run', async (name) => {
    const { real, ours } = await create(name, { query: '?dryRun=All' });
    expect(comparable(ours)).toEqual(comparable(real));
  });
});

describe('webhooks receive the same reviews as from the real server', () => {
  const name = 'told';
  const APPS = '/apis/apps/v1/namespaces/NS/deployments';
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  const deployment = {
    metadata: { name },
    spec: { replicas: 0, selector: { matchLabels: { a: 'b' } }, template },
  };
  const merge = [['content-type', 'application/merge-patch+json']] as const;
  const apply = [['content-type', 'application/apply-patch+yaml']] as const;
  const as = [
    ['impersonate-user', 'ann'],
    ['impersonate-group', 'system:masters'],
    ['impersonate-extra-scopes', 'a'],
  ] as const;

  it.each<[string, string, string, unknown, (readonly (readonly [string, string])[])?]>([
    ['a generated name', 'POST', MAPS, { metadata: { generateName: 'made-' }, data: { a: '1' } }],
    ['a create', 'POST', MAPS, { metadata: { name, uid: 'mine' }, data: { a: '1' } }],
    [
      'a create in a dry run with options',
      'POST',
      `${MAPS}?dryRun=All&fieldManager=me&fieldValidation=Strict`,
      { metadata: { name: 'dry' } },
    ],
    ['a minimal update', 'PUT', `${MAPS}/${name}`, { metadata: { name }, data: { a: '2' } }],
    ['a patch by another user', 'PATCH', `${MAPS}/${name}?fieldManager=me`, { data: { b: '2' } }, [...merge, ...as]],
    [
      'an apply',
      'PATCH',
      `${MAPS}/${name}?fieldManager=me&force=true`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { c: '1' } },
      apply,
    ],
    [
      'an apply of a missing object',
      'PATCH',
      `${MAPS}/applied?fieldManager=me`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' } },
      apply,
    ],
    [
      'a deletion with options',
      'DELETE',
      `${MAPS}/${name}`,
      { propagationPolicy: 'Background', gracePeriodSeconds: 0 },
    ],
    ['a deletion by query', 'DELETE', `${MAPS}/applied?propagationPolicy=Background&gracePeriodSeconds=0`, undefined],
    ['a deletion of a collection', 'DELETE', `${MAPS}?labelSelector=many`, undefined],
    ['a token', 'POST', '/api/v1/namespaces/NS/serviceaccounts/teller/token', { spec: { expirationSeconds: 700 } }],
    ['a Deployment', 'POST', APPS, deployment],
    [
      'its status',
      'PATCH',
      `${APPS}/${name}/status`,
      { status: { replicas: 0 }, metadata: { annotations: { a: 'b' } } },
      merge,
    ],
    ['its scale', 'PATCH', `${APPS}/${name}/scale`, { spec: { replicas: 0 } }, merge],
    ['its namespace', 'PATCH', '/api/v1/namespaces/NS', { metadata: { annotations: { a: 'b' } } }, merge],
  ])('of %s', async (_what, method, path, body, headers) => {
    await servers.both(ADMIN, 'POST', '/api/v1/namespaces/NS/serviceaccounts', { metadata: { name: 'teller' } });
    if (path.includes('many'))
      await servers.both(ADMIN, 'POST', MAPS, { metadata: { name: 'one', labels: { many: '' } } });
    server.clearRequests();
    const { real, ours } = await servers.both(ADMIN, method, path, body, headers);
    expect(ours.code, JSON.stringify(ours.body)).toBe(real.code);
    expect(real.code).toBeLessThan(300);
    // The real server completes a TokenRequest before it calls the second webhook.
    for (const type of path.endsWith('/token') ? ['mutating'] : ['mutating', 'validating']) {
      const people = ['admin', 'ann'];
      const received = server
        .received(`/tell-${type}`)
        .filter(({ userInfo }) => people.includes((userInfo as { username: string }).username));
      // The real server retries an update, a patch or a deletion if its cache is behind, or if it conflicts with a
      // controller, and calls the webhook again; our server is called last.
      const mayRepeat = method !== 'POST' || path.startsWith(APPS);
      if (mayRepeat) expect(received.length, type).toBeGreaterThanOrEqual(2);
      else expect(received.length, type).toBe(2);
      expect(comparableRequest(received.at(-1)), type).toEqual(comparableRequest(received.at(-2)));
    }
  });

  /** comparableRequest returns a request without what the real controllers add and without values that differ between objects. */
  function comparableRequest(request: ReviewRequest | undefined): unknown {
    const text = JSON.stringify(request, (key, value: unknown) => (OTHERS.has(key) ? undefined : (value ?? undefined)));
    return JSON.parse(
      text
        .replaceAll(/"(extra|annotations)":\{\},?/g, '')
        .replaceAll(',}', '}')
        .replaceAll(/made-[a-z0-9]{5}/g, 'made-NNNNN')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'UID')
        .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME'),
    );
  }
});
