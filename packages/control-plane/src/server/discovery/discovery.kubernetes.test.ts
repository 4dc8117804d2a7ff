import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { connect, connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestInfo } from '../http/request-info.ts';
import { builtInResources } from '../registry/built-in-resources.ts';
import { Registry } from '../registry/registry.ts';
import { discoveryRoutes } from './discovery-routes.ts';

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface Aggregated {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly Resource[] }[];
  }[];
}

interface Resource {
  readonly resource: string;
  readonly subresources?: readonly { readonly subresource: string }[];
}

let c: Cluster;
let real: (path: string, accept?: string) => Promise<unknown>;
const registry = new Registry();
registry.set(...builtInResources());
const routes = discoveryRoutes({ registry });

beforeAll(async () => {
  c = await cluster({ prefix: 'discovery' });
  const kubeconfig = await c.kubeconfig('admin');
  const connection = connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']));
  const transport = connect(connection);
  c.onDispose(() => transport.close());
  real = async (path, accept = 'application/json') => {
    const response = await transport.request({ method: 'GET', path, lane: 'call', headers: { accept } });
    return JSON.parse(await response.text()) as unknown;
  };
});
afterAll(() => c[Symbol.asyncDispose]());

test.each(['/api', '/apis'])(
  '%s returns the same entries in the same order for kinds that both servers serve',
  async (path) => {
    const expected = entriesOf((await real(path, AGGREGATED)) as Aggregated);
    const own = entriesOf((await ours(path, AGGREGATED)) as Aggregated);
    expect(own.size).toBeGreaterThan(10);
    const shared = [...expected].filter(([name]) => own.has(name));
    expect([...own]).toEqual(shared);
  },
);

test.each(['/apis/apps', '/apis/rbac.authorization.k8s.io/v1', '/apis/coordination.k8s.io/v1', '/apis/apps/v1'])(
  '%s is the same',
  async (path) => {
    expect(await ours(path)).toEqual(await real(path));
  },
);

/** entriesOf returns all resources and their subresources, by path. */
function entriesOf({ items }: Aggregated): Map<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const { metadata, versions } of items) {
    for (const { version, resources } of versions) {
      for (const { subresources = [], ...resource } of resources) {
        const path = `${metadata.name ?? ''}/${version}/${resource.resource}`;
        entries.set(path, resource);
        for (const part of subresources) entries.set(`${path}/${part.subresource}`, part);
      }
    }
  }
  return entries;
}

async function ours(path: string, accept = 'application/json'): Promise<unknown> {
  const query = new URLSearchParams();
  const request = {
    method: 'GET',
    url: path,
    headers: { accept },
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    connection: { remoteAddress: '', isSecure: true },
  };
  for (const route of routes) {
    const response = await route(requestInfo('GET', path, query), request, query);
    if (response) return JSON.parse(String(response.body)) as unknown;
  }
  return undefined;
}
