import { describe, expect, test } from 'vitest';
import type { ApiResponse, Route } from '../http/api-request.ts';
import { requestInfo } from '../http/request-info.ts';
import { builtInResources } from '../registry/built-in-resources.ts';
import { Registry } from '../registry/registry.ts';
import { discoveryRoutes } from './discovery-routes.ts';
import { compareVersions } from './version-order.ts';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const V2BETA1 = V2.replace('v=v2', 'v=v2beta1');
const OF_KUBECTL = `${V2},${V2BETA1},application/json`;

function served(): Registry {
  const registry = new Registry();
  registry.set(...builtInResources());
  return registry;
}

async function send(
  routes: readonly Route[],
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiResponse | undefined> {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const request = {
    method: 'GET',
    url,
    headers,
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    connection: { remoteAddress: '', isSecure: true },
  };
  for (const route of routes) {
    const response = await route(requestInfo('GET', pathname, searchParams), request, searchParams);
    if (response) return response;
  }
  return undefined;
}

describe('discovery', () => {
  test('returns aggregated discovery to kubectl, and 304 when its copy is current', async () => {
    const routes = discoveryRoutes({ registry: served() });
    const first = await send(routes, '/apis', { accept: OF_KUBECTL });
    expect(first?.headers).toMatchObject({ 'content-type': V2, vary: 'Accept' });
    const again = await send(routes, '/apis', { accept: OF_KUBECTL, 'if-none-match': String(first?.headers.etag) });
    expect([again?.status, again?.body]).toEqual([304, '']);
  });

  test('changes its ETag when the served resources change', async () => {
    const registry = served();
    const routes = discoveryRoutes({ registry });
    const before = await send(routes, '/apis', { accept: V2 });
    registry.remove('apps', 'v1', 'deployments');
    const after = await send(routes, '/apis', { accept: V2 });
    expect(after?.headers.etag).not.toBe(before?.headers.etag);
  });

  test('returns a list of groups to other clients and refuses unsupported formats', async () => {
    const routes = discoveryRoutes({ registry: served() });
    expect(String((await send(routes, '/apis'))?.body)).toContain('"kind":"APIGroupList"');
    expect(String((await send(routes, '/apis', { accept: '*/*' }))?.body)).toContain('"kind":"APIGroupList"');
    await expect(send(routes, '/apis', { accept: V2BETA1 })).rejects.toMatchObject({ code: 406 });
  });

  test('returns the address of the server', async () => {
    const routes = discoveryRoutes({ registry: served(), url: () => 'https://127.0.0.1:6443' });
    expect(String((await send(routes, '/api'))?.body)).toContain('"serverAddress":"127.0.0.1:6443"');
  });

  test('does not serve objects or missing groups', async () => {
    const routes = discoveryRoutes({ registry: served() });
    expect(await send(routes, '/apis/apps/v1/deployments')).toBeUndefined();
    expect(await send(routes, '/apis/nobody.test')).toBeUndefined();
    await expect(send(routes, '/apis/apps/v9')).rejects.toMatchObject({ code: 404 });
  });
});

describe('health', () => {
  test('is reported briefly, verbosely and per check', async () => {
    const checks = [{ name: 'storage', isHealthy: () => true }];
    const routes = discoveryRoutes({ registry: served(), checks });
    expect((await send(routes, '/readyz'))?.body).toBe('ok');
    expect((await send(routes, '/readyz?verbose'))?.body).toBe('[+]ping ok\n[+]storage ok\nreadyz check passed\n');
    expect((await send(routes, '/livez/storage'))?.body).toBe('ok');
    expect(await send(routes, '/livez/nothing')).toBeUndefined();
  });

  test('fails with the failed check unless it is excluded', async () => {
    const checks = [{ name: 'storage', isHealthy: () => false }];
    const routes = discoveryRoutes({ registry: served(), checks });
    const failed = await send(routes, '/readyz');
    expect([failed?.status, failed?.body]).toEqual([
      500,
      '[+]ping ok\n[-]storage failed: reason withheld\nreadyz check failed\n',
    ]);
    expect((await send(routes, '/readyz?exclude=storage'))?.status).toBe(200);
  });
});

test('Versions are ordered as in Kubernetes', () => {
  const sorted = ['foo', 'v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'bar', 'v0'];
  expect([...sorted].reverse().sort(compareVersions)).toEqual([
    'v10',
    'v2',
    'v1',
    'v11beta2',
    'v10beta3',
    'v3beta1',
    'v12alpha1',
    'v11alpha2',
    'bar',
    'foo',
    'v0',
  ]);
});
