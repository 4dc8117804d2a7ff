import { describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../../../in-process.test-support.ts';

const PODS = '/api/v1/namespaces/default/pods';
const BUDGETS = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const MERGE = { 'content-type': 'application/merge-patch+json' };
const TABLE = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };

async function runs(t: TestServer, name: string, status: object = {}): Promise<void> {
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] };
  await t.call('POST', PODS, { metadata: { name, labels: { app: 'a' } }, spec });
  const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await t.call('PATCH', `${PODS}/${name}/status`, { status: { ...ready, ...status } }, MERGE);
}

async function budget(t: TestServer, spec: object, status: object): Promise<void> {
  const selector = { matchLabels: { app: 'a' } };
  await t.call('POST', BUDGETS, { metadata: { name: 'b' }, spec: { selector, ...spec } });
  await t.call('PATCH', `${BUDGETS}/b/status`, { status: { observedGeneration: 1, ...status } }, MERGE);
}

function evict(t: TestServer, name: string) {
  return t.call('POST', `${PODS}/${name}/eviction`, { metadata: { name } });
}

describe('a running pod', () => {
  it('is evicted when its disruption budget allows it', async () => {
    const t = startTestServer();
    await runs(t, 'a');
    await budget(t, { minAvailable: 0 }, { disruptionsAllowed: 1, currentHealthy: 1 });
    expect((await evict(t, 'a')).status).toBe(201);
    const { body } = await t.call('GET', `${PODS}/a`);
    expect(body.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    expect(body.status).toMatchObject({
      conditions: [{ type: 'Ready' }, { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }],
    });
    const { status } = (await t.call('GET', `${BUDGETS}/b`)).body;
    expect(status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { a: '2026-01-01T00:00:00Z' } });
  });

  it('reports all forbidden changes, not only of a toleration', async () => {
    const t = startTestServer();
    const spec = { containers: [{ name: 'c', image: 'i' }], tolerations: [{ key: 'a', operator: 'Exists' }] };
    await t.call('POST', PODS, { metadata: { name: 'a' }, spec });
    const change = { tolerations: [{ key: 'b', operator: 'Exists' }], hostname: 'other' };
    const { status, body } = await t.call('PATCH', `${PODS}/a`, { spec: change }, MERGE);
    expect([status, body.details]).toMatchObject([422, { causes: [{ field: 'spec.tolerations' }, { field: 'spec' }] }]);
  });

  it.each([
    [
      'allows no disruptions',
      { currentHealthy: 1, desiredHealthy: 1 },
      'The disruption budget b needs 1 healthy pods and has 1 currently',
    ],
    ['is being computed', { observedGeneration: 0 }, 'The disruption budget b is still being processed by the server.'],
  ])('stays when its budget %s', async (_why, status, message) => {
    const t = startTestServer();
    await runs(t, 'a');
    await budget(t, { minAvailable: 1 }, status);
    const response = await evict(t, 'a');
    expect(response.status).toBe(429);
    expect(response.body).toMatchObject({
      reason: 'TooManyRequests',
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: 'DisruptionBudget', message }] },
    });
    expect((await t.call('GET', `${PODS}/a`)).body.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it.each([
    ['enough others are healthy', {}, { currentHealthy: 1, desiredHealthy: 1 }],
    ['the eviction policy allows it', { unhealthyPodEvictionPolicy: 'AlwaysAllow' }, { desiredHealthy: 1 }],
  ])('that is not ready does not count against the budget when %s', async (_why, spec, status) => {
    const t = startTestServer();
    await runs(t, 'a', { conditions: [{ type: 'Ready', status: 'False' }] });
    await budget(t, { minAvailable: 1, ...spec }, status);
    expect((await evict(t, 'a')).status).toBe(201);
    expect((await t.call('GET', `${BUDGETS}/b`)).body.status).not.toHaveProperty('disruptedPods');
  });

  it('shows the time since its last restart', async () => {
    const t = startTestServer();
    const ended = (finishedAt: string) => ({ terminated: { exitCode: 1, finishedAt } });
    await runs(t, 'a', {
      containerStatuses: [
        { name: 'c', ready: true, restartCount: 2, state: { running: {} }, lastState: ended('2025-12-31T23:55:00Z') },
        { name: 'd', restartCount: 1, state: { running: {} }, lastState: ended('2025-12-31T23:50:00Z') },
      ],
    });
    const { rows } = (await t.call('GET', `${PODS}/a`, undefined, TABLE)).body as unknown as {
      rows: { cells: unknown[] }[];
    };
    expect(rows[0]?.cells.slice(0, 5)).toEqual(['a', '1/1', 'Running', '3 (5m ago)', '0s']);
  });

  it('keeps running for its grace period, which later deletions can only shorten', async () => {
    const t = startTestServer();
    await runs(t, 'a');
    const grace = async (body?: object) => {
      const response = await t.call('DELETE', `${PODS}/a`, body);
      return [response.body.metadata?.deletionTimestamp, response.body.metadata?.deletionGracePeriodSeconds];
    };
    expect(await grace({ gracePeriodSeconds: 20 })).toEqual(['2026-01-01T00:00:20Z', 20]);
    expect(await grace({ gracePeriodSeconds: 60 })).toEqual(['2026-01-01T00:00:20Z', 20]);
    expect(await grace({ gracePeriodSeconds: 5 })).toEqual(['2026-01-01T00:00:05Z', 5]);
    expect(await grace({ gracePeriodSeconds: 0 })).toEqual(['2026-01-01T00:00:00Z', 0]);
    expect((await t.call('GET', `${PODS}/a`)).status).toBe(404);
  });
});

describe('the log of a container', () => {
  const node = {
    metadata: { name: 'n' },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 1234 } },
    },
  };

  it('is read from the kubelet of its node', async () => {
    const requestedUrls: string[] = [];
    const t = startTestServer({
      requestKubelet: (url) => {
        requestedUrls.push(url.href);
        return Promise.resolve({ status: 200, body: words('one\n', 'two\n') });
      },
    });
    await t.call('POST', '/api/v1/nodes', node);
    await runs(t, 'a');
    const { body } = await t.call('GET', `${PODS}/a/log?tailLines=2&limitBytes=9&pretty=true`);
    expect(body.message).toBe('one\ntwo\n');
    expect(requestedUrls).toEqual(['https://10.0.0.1:1234/containerLogs/default/a/c?tailLines=2&limitBytes=9']);
  });

  it.each([
    ['refuses', () => Promise.resolve({ status: 403, body: words('not you\n') }), 403, 'not you'],
    [
      'is not reachable',
      () => Promise.reject(new Error('connect ECONNREFUSED')),
      500,
      'Internal error occurred: Get "https://10.0.0.1:1234/containerLogs/default/a/c": connect ECONNREFUSED',
    ],
  ])('returns an error when the kubelet %s', async (_why, requestKubelet, status, message) => {
    const t = startTestServer({ requestKubelet });
    await t.call('POST', '/api/v1/nodes', node);
    await runs(t, 'a');
    expect(await t.call('GET', `${PODS}/a/log`)).toMatchObject({ status, body: { message } });
  });
});

async function* words(...chunks: readonly string[]): AsyncGenerator<string> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}
