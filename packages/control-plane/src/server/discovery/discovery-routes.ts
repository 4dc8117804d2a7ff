import { createHash } from 'node:crypto';
import type { ApiRequest, ApiResponse, Route } from '../http/api-request.ts';
import { parseAccept, YAML } from '../http/negotiate.ts';
import type { Registry } from '../registry/registry.ts';
import { noSuchResource, notAcceptable } from '../status/api-status.ts';
import { type ApiGroup, aggregatedDocument, apiGroups, groupDocument, resourceListDocument } from './documents.ts';
import { type HealthCheck, healthRoute } from './health-route.ts';
import { versionRoute } from './version-route.ts';

/** DiscoveryOptions holds what a server reports about itself. */
export interface DiscoveryOptions {
  readonly registry: Registry;
  /** url returns the address of the server. Defaults to none. */
  readonly url?: (() => string) | undefined;
  /** Checks that must pass for the server to be ready. Defaults to none: the server is ready once it responds. */
  readonly checks?: readonly HealthCheck[] | undefined;
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const PLAIN_TYPES = ['application/json', YAML, 'application/*', '*/*'];
const RESPONSE_TYPES = ['application/json', YAML, 'application/vnd.kubernetes.protobuf'];

/** discoveryRoutes returns the routes of discovery, of the server version, of health, and of the index of paths. */
export function discoveryRoutes(options: DiscoveryOptions): Route[] {
  return [discoveryRoute(options), versionRoute, healthRoute(options.checks ?? []), indexRoute(options.registry)];
}

function discoveryRoute({ registry, url }: DiscoveryOptions): Route {
  const groups = cached(registry, () => apiGroups(registry.all()));
  const core = cached(registry, () => tagged(aggregatedDocument(groups().filter(({ name }) => name === ''))));
  const named = cached(registry, () => tagged(aggregatedDocument(groups().filter(({ name }) => name !== ''))));
  return ({ isResource, path }, request) => {
    const [root, ...rest] = (path.endsWith('/') ? path.slice(1, -1) : path.slice(1)).split('/');
    if (rest.includes('')) return undefined;
    if (isResource || (root !== 'api' && root !== 'apis')) return undefined;
    const name = root === 'api' ? '' : rest.shift();
    if (name === undefined) {
      if (wantsAggregated(request)) return aggregated(request, named());
      const list = groups().filter((group) => group.name !== '');
      return json({ kind: 'APIGroupList', apiVersion: 'v1', groups: list.map(groupDocument) });
    }
    const group = groups().find((each) => each.name === name);
    if (!group) return undefined;
    const [version] = rest;
    if (version !== undefined) return versionResponse(registry, group, version);
    if (name !== '') return json({ kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(group) });
    if (wantsAggregated(request)) return aggregated(request, core());
    const serverAddress = url ? new URL(url()).host : 'localhost';
    return json({
      kind: 'APIVersions',
      versions: group.versions.map((each) => each.version),
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
    });
  };
}

function versionResponse(registry: Registry, { name, versions }: ApiGroup, version: string): ApiResponse | undefined {
  const found = versions.find((each) => each.version === version);
  if (found) return json(resourceListDocument(name, found));
  if (registry.hasBuiltIn(name)) throw noSuchResource();
  return undefined;
}

/** indexRoute lists the paths of the server. */
function indexRoute(registry: Registry): Route {
  const paths = cached(registry, () => {
    const all = ['/api', '/apis', '/healthz', '/livez', '/openapi/v3', '/openid/v1/jwks', '/readyz', '/version'];
    all.push('/.well-known/openid-configuration');
    for (const { name, versions } of apiGroups(registry.all())) {
      const base = name === '' ? '/api' : `/apis/${name}`;
      if (name !== '') all.push(base);
      all.push(...versions.map(({ version }) => `${base}/${version}`));
    }
    return all.sort();
  });
  return ({ path }) => (path === '/' ? json({ paths: paths() }) : undefined);
}

/**
 * wantsAggregated reports whether a client prefers aggregated discovery; a format that is not supported, such as a
 * version before v2, is rejected.
 */
function wantsAggregated({ headers }: ApiRequest): boolean {
  const accept = headers.accept?.trim() ?? '';
  if (accept === '') return false;
  for (const { type, parameters } of parseAccept(accept)) {
    if (!PLAIN_TYPES.includes(type)) continue;
    const as = parameters.get('as');
    if (as === undefined) return false;
    const isV2 = parameters.get('g') === 'apidiscovery.k8s.io' && parameters.get('v') === 'v2';
    if (isV2 && as === 'APIGroupDiscoveryList') return true;
  }
  throw notAcceptable(RESPONSE_TYPES);
}

interface Tagged {
  readonly text: string;
  readonly tag: string;
}

function tagged(document: object): Tagged {
  const text = JSON.stringify(document);
  return { text, tag: `"${createHash('sha512').update(text).digest('hex').toUpperCase()}"` };
}

function aggregated({ headers }: ApiRequest, { text, tag }: Tagged): ApiResponse {
  const common = { etag: tag, vary: 'Accept', 'cache-control': 'public' };
  if (headers['if-none-match'] === tag) return { status: 304, headers: common, body: '' };
  return { status: 200, headers: { ...common, 'content-type': AGGREGATED }, body: text };
}

function json(document: object): ApiResponse {
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' };
  return { status: 200, headers, body: JSON.stringify(document) };
}

/** cached returns a function that caches a value and recomputes it when the served resources change. */
function cached<T>(registry: Pick<Registry, 'generation'>, make: () => T): () => T {
  let known: { readonly generation: number; readonly value: T } | undefined;
  return () => {
    const { generation } = registry;
    if (known?.generation !== generation) known = { generation, value: make() };
    return known.value;
  };
}
