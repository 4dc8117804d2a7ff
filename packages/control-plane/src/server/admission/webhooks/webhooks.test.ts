import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN, type GuardedServer, startGuardedServer } from '../../authorization/guarded-server.test-support.ts';
import type { ServiceResolver } from './service-address.ts';
import {
  patch,
  type Reply,
  type ReviewRequest,
  startWebhookServer,
  type WebhookServer,
} from './webhook-server.test-support.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const PODS = '/api/v1/namespaces/default/pods';
const POD = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } };

let server: WebhookServer;
/** The responses of the webhooks by path; each test sets its own. */
let replies: Record<string, (received: ReviewRequest) => Reply> = {};
beforeAll(async () => {
  server = await startWebhookServer(
    Object.fromEntries(
      ['/a', '/b', '/c'].map((path) => [path, (received: ReviewRequest) => replies[path]?.(received) ?? allowed]),
    ),
  );
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.clearRequests();
  replies = {};
});

const allowed: Reply = { response: { allowed: true } };

interface Hook {
  readonly type?: 'mutating' | 'validating';
  readonly configuration?: string;
  readonly path?: string;
  readonly more?: object;
}

async function start(hooks: readonly Hook[], resolveService?: ServiceResolver): Promise<GuardedServer> {
  const t = startGuardedServer({ admits: true, resolveService });
  await t.send(ADMIN, 'POST', '/api/v1/namespaces', { metadata: { name: 'default' } });
  await t.send(ADMIN, 'POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
  for (const { type = 'mutating', configuration = 'hooks', path = '/a', more } of hooks) {
    const webhook = {
      name: `${path.slice(1)}.${configuration}.test`,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: `${server.url}${path}`, caBundle: server.caBundle },
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      ...more,
    };
    const collection = `${CONFIGURATIONS}/${type}webhookconfigurations`;
    const existing = await t.send(ADMIN, 'GET', `${collection}/${configuration}`);
    const webhooks = [...((existing.body.webhooks as object[] | undefined) ?? []), webhook];
    const { code, body } =
      existing.code === 404
        ? await t.send(ADMIN, 'POST', collection, { metadata: { name: configuration }, webhooks })
        : await t.send(ADMIN, 'PUT', `${collection}/${configuration}`, { ...existing.body, webhooks });
    expect(code, body.message).toBeLessThan(300);
  }
  server.clearRequests();
  return t;
}

const append =
  (letter: string) =>
  (received: ReviewRequest): Reply => {
    const before = (received.object as { data?: { seen?: string } } | null)?.data?.seen ?? '';
    return patch({ op: 'add', path: '/data', value: { seen: before + letter } });
  };

describe('mutating webhooks', () => {
  it('are called in the order of their configuration names, each with the changes of the earlier ones', async () => {
    using t = await start([
      { configuration: 'z', path: '/a' },
      { configuration: 'm', path: '/b' },
      { configuration: 'm', path: '/c' },
    ]);
    replies = { '/a': append('a'), '/b': append('b'), '/c': append('c') };
    const { body } = await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(body.data).toEqual({ seen: 'bca' });
  });

  it('are called again after later changes of the object if their reinvocation policy allows it', async () => {
    using t = await start([
      { path: '/a', more: { reinvocationPolicy: 'IfNeeded' } },
      { path: '/b' },
      { path: '/c', more: { reinvocationPolicy: 'IfNeeded' } },
    ]);
    replies = { '/b': append('b') };
    await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(['/a', '/b', '/c'].map((path) => server.received(path).length)).toEqual([2, 1, 1]);
    expect(server.received('/a')[1]?.object).toMatchObject({ data: { seen: 'b' } });
  });

  it('have their changes completed by the other plugins, and see the result if they are reinvoked', async () => {
    using t = await start([{ path: '/a', more: { reinvocationPolicy: 'IfNeeded' } }]);
    replies = {
      '/a': ({ object }) => {
        const { containers } = (object as unknown as { spec: { containers: { name: string }[] } }).spec;
        if (containers.length > 1) return allowed;
        return patch({ op: 'add', path: '/spec/containers/-', value: { name: 'side', image: 'b' } });
      },
    };
    const { code, body } = await t.send(ADMIN, 'POST', PODS, POD);
    expect(code, body.message).toBe(201);
    const { containers } = body.spec as {
      containers: { volumeMounts?: { mountPath: string }[]; imagePullPolicy: string }[];
    };
    expect(containers[1]?.volumeMounts?.[0]?.mountPath).toBe('/var/run/secrets/kubernetes.io/serviceaccount');
    expect(containers[1]?.imagePullPolicy).toBeDefined();
    expect(server.received('/a').length).toBe(2);
  });

  it('cannot change fields that the server sets or the namespace of an object', async () => {
    using t = await start([{}]);
    replies = {
      '/a': () =>
        patch(
          { op: 'add', path: '/metadata/uid', value: 'mine' },
          { op: 'add', path: '/metadata/managedFields', value: [{ manager: 'x', operation: 'Odd', apiVersion: 'v1' }] },
        ),
    };
    const { body } = await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' }, data: { a: 'b' } });
    expect(body.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(body.metadata?.managedFields).toMatchObject([{ operation: 'Update' }]);
    replies = { '/a': () => patch({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }) };
    const moved = await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'y' } });
    expect([moved.code, moved.body.message]).toEqual([400, expect.stringContaining('does not match the namespace')]);
  });

  it('receive deletions but cannot patch them', async () => {
    using t = await start([
      {
        more: { rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps'] }] },
      },
    ]);
    await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    replies = { '/a': append('a') };
    const { code, body } = await t.send(ADMIN, 'DELETE', `${MAPS}/x`);
    expect([code, body.message]).toEqual([
      500,
      expect.stringContaining('attempted to modify the object, which is not supported'),
    ]);
  });

  it('treat a field named __proto__ as data', async () => {
    using t = await start([{}]);
    replies = {
      '/a': () => ({
        response: {
          allowed: true,
          patchType: 'JSONPatch',
          patch: Buffer.from('[{"op":"add","path":"/data","value":{"__proto__":"x"}}]').toString('base64'),
        },
      }),
    };
    const { body } = await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(Object.keys(body.data as object)).toEqual(['__proto__']);
  });
});

describe('webhooks', () => {
  it.each([
    ['authorizer.requestResource.check("create").allowed()', 1],
    ['authorizer.serviceAccount("default", "a").group("").resource("configmaps").check("create").allowed()', 0],
    [
      'authorizer.serviceAccount("default", "a").path("/healthz").check("get").reason().startsWith("RBAC: allowed by")',
      1,
    ],
  ])('are called when the permissions of the user match their condition: %s', async (expression, times) => {
    using t = await start([{ more: { matchConditions: [{ name: 'a', expression }] } }]);
    expect((await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } })).code).toBe(201);
    expect(server.received('/a')).toHaveLength(times);
  });

  it.each([
    [
      'one match condition exceeds the cost limit',
      1_000,
      1,
      "expression '.*' resulted in error: operation cancelled: actual cost limit exceeded",
    ],
    [
      'all match conditions together exceed the cost budget',
      300,
      9,
      'validation failed due to running out of cost budget, no further validation rules will be run',
    ],
  ])('are not called, and fail, when %s', async (_, rounds, count, why) => {
    const expression = `lists.range(${rounds}).all(x, lists.range(300).all(y, y >= x - x))`;
    const matchConditions = Array.from({ length: count }, (__, index) => ({ name: `c${index}`, expression }));
    using t = await start([{ more: { matchConditions } }]);
    const { code, body } = await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(code).toBe(403);
    expect(body.message).toMatch(new RegExp(why));
    expect(server.received('/a')).toHaveLength(0);
  });

  it('are never called for webhook configurations', async () => {
    using t = await start([{ type: 'validating' }, { type: 'mutating' }]);
    replies = { '/a': () => ({ response: { allowed: false } }) };
    expect((await t.send(ADMIN, 'DELETE', `${CONFIGURATIONS}/validatingwebhookconfigurations/hooks`)).code).toBe(200);
    expect((await t.send(ADMIN, 'DELETE', `${CONFIGURATIONS}/mutatingwebhookconfigurations/hooks`)).code).toBe(200);
    expect((await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } })).code).toBe(201);
  });

  it('fail when they do not respond within the timeout, by the clock of the server', async () => {
    using t = await start([{ type: 'validating', more: { timeoutSeconds: 30 } }]);
    const received = new Promise<void>((resolve) => {
      replies = {
        '/a': () => {
          resolve();
          return 'silence';
        },
      };
    });
    const created = t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    await received;
    await t.clock.advance(30_000);
    const { code, body } = await created;
    const why = `failed calling webhook "a.hooks.test": failed to call webhook: Post "${server.url}/a?timeout=30s": context deadline exceeded`;
    expect([code, body.message]).toEqual([500, `Internal error occurred: ${why}`]);
  });

  it('are called on a new connection if the idle one was closed', async () => {
    using t = await start([{ type: 'validating' }]);
    for (const name of ['x', 'y', 'z']) {
      expect((await t.send(ADMIN, 'POST', MAPS, { metadata: { name } })).code).toBe(201);
      server.closeConnections();
    }
  });

  it('return warnings with an allowed request, truncated when they are too long', async () => {
    using t = await start([{ type: 'validating' }]);
    replies = {
      '/a': () => ({ response: { allowed: true, warnings: ['careful', 'x'.repeat(10_000), 'y'.repeat(10_000)] } }),
    };
    const { headers } = await t.server.handle({
      method: 'POST',
      url: MAPS,
      headers: { 'content-type': 'application/json' },
      body: () => Promise.resolve(Buffer.from(JSON.stringify({ metadata: { name: 'x' } }))),
      signal: new AbortController().signal,
      connection: {
        remoteAddress: '',
        isSecure: true,
        certificate: { commonName: 'a', organizations: ['system:masters'] },
      },
    });
    expect((headers.warning as string[]).map((line) => line.length)).toEqual([15, 264, 264]);
  });

  it('add annotations to the audit event', async () => {
    using t = await start([{ type: 'validating' }]);
    replies = { '/a': () => ({ response: { allowed: true, auditAnnotations: { why: 'because' } } }) };
    await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(t.audited.at(-1)?.annotations).toEqual({ 'a.hooks.test/why': 'because' });
  });

  it('behind a Service are reached at its external name, or at the address from resolveService', async () => {
    const port = Number(new URL(server.url).port);
    const service = { namespace: 'default', name: 'hooks', path: '/a' };
    using t = await start(
      [{ type: 'validating', more: { clientConfig: { service, caBundle: server.caBundle } } }],
      (received) => (received.port === 443 ? { host: '127.0.0.1', port } : undefined),
    );
    const created = await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(created.body.message).toContain(
      'Post "https://hooks.default.svc:443/a?timeout=10s": service "hooks" not found',
    );
    const services = t.server.registry.find('', 'v1', 'services')?.collection ?? '';
    const put = (spec: object): void => {
      const existing = t.server.storage.get(services, 'default/hooks');
      const object = { metadata: { name: 'hooks', namespace: 'default' }, spec };
      if (existing) t.server.storage.update(services, 'default/hooks', existing.revision, object);
      else t.server.storage.create(services, 'default/hooks', object);
    };
    put({ type: 'ClusterIP', clusterIP: '10.0.0.9', ports: [{ port: 443 }] });
    expect((await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } })).code).toBe(201);
    const external = { ...service, port };
    using u = await start([
      { type: 'validating', more: { clientConfig: { service: external, caBundle: server.caBundle } } },
    ]);
    u.server.storage.create(services, 'default/hooks', {
      metadata: { name: 'hooks', namespace: 'default' },
      spec: { type: 'ExternalName', externalName: '127.0.0.1' },
    } as never);
    expect((await u.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } })).code).toBe(201);
  });

  it('for another version of the same resource receive that version, unless their match policy is Exact', async () => {
    const rules = [{ apiGroups: [''], apiVersions: ['v7'], operations: ['*'], resources: ['configmaps'] }];
    using t = await start([
      { type: 'validating', path: '/a', more: { rules } },
      { type: 'validating', path: '/b', more: { rules, matchPolicy: 'Exact' } },
    ]);
    const maps = t.server.registry.find('', 'v1', 'configmaps');
    if (maps) t.server.registry.set({ ...maps, version: 'v7' });
    await t.send(ADMIN, 'POST', MAPS, { metadata: { name: 'x' } });
    expect(server.received('/b')).toEqual([]);
    expect(server.received('/a')).toMatchObject([
      {
        kind: { version: 'v7' },
        resource: { version: 'v7' },
        requestKind: { version: 'v1' },
        requestResource: { version: 'v1' },
        object: { apiVersion: 'v7', kind: 'ConfigMap' },
      },
    ]);
  });
});
