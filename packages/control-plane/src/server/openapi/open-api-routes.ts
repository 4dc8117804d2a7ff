import { createHash } from 'node:crypto';
import { apiGroups } from '../discovery/documents.ts';
import type { ApiRequest, ApiResponse, Route } from '../http/api-request.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import { type Descriptions, descriptionsOf, NO_DESCRIPTIONS, type OpenApiDocument } from './descriptions.ts';
import { groupVersionDocument } from './group-version-document.ts';
import { openApiV2Route } from './open-api-v2-route.ts';

const ROOT = '/openapi/v3';

/** Described is one version of a group; its document is generated on request. */
interface Described {
  readonly resources: readonly ApiResource[];
  readonly load: () => Promise<Descriptions>;
  /** The hash of the document, by which clients cache it forever: derived only from the text. */
  hash?: string;
  /** Kept after the first request; most documents are never requested. */
  text?: string;
}

/** OpenApiOptions configures the documents. */
export interface OpenApiOptions {
  readonly registry: Registry;
  /** Loads the documents that contain descriptions, once, when the first document is requested. Defaults to none. */
  readonly openApiDocuments?: (() => Promise<readonly OpenApiDocument[]>) | undefined;
}

/**
 * openApiRoutes returns routes for an OpenAPI v3 document of every group and version; the v2 document exists but is
 * empty.
 */
export function openApiRoutes({ registry, openApiDocuments }: OpenApiOptions): Route[] {
  let loading: Promise<Descriptions> | undefined;
  const loaded = async (): Promise<Descriptions> => {
    try {
      return openApiDocuments ? descriptionsOf(await openApiDocuments()) : NO_DESCRIPTIONS;
    } catch (error) {
      // The next request tries again.
      loading = undefined;
      throw error;
    }
  };
  const load = (): Promise<Descriptions> => {
    loading ??= loaded();
    return loading;
  };
  const described = describedVersions(registry, load);
  const route: Route = async ({ path }, request, query) => {
    if (path === ROOT || path === `${ROOT}/`) return rootResponse(described());
    if (!path.startsWith(`${ROOT}/`)) return undefined;
    const name = path.slice(ROOT.length + 1);
    const found = described().get(name);
    if (!found) return undefined;
    return documentResponse(found, name, request, query.get('hash'));
  };
  return [route, openApiV2Route];
}

/** describedVersions keeps the entries of versions that did not change. */
function describedVersions(registry: Registry, load: Described['load']): () => ReadonlyMap<string, Described> {
  let known: ReadonlyMap<string, Described> = new Map();
  let generation = -1;
  return () => {
    if (generation === registry.generation) return known;
    generation = registry.generation;
    const next = new Map<string, Described>();
    for (const { name, versions } of apiGroups(registry.all())) {
      for (const { version, resources } of versions) {
        const path = name === '' ? `api/${version}` : `apis/${name}/${version}`;
        const before = known.get(path);
        next.set(path, before && isSame(before.resources, resources) ? before : { resources, load });
      }
    }
    known = next;
    return known;
  };
}

function isSame(before: readonly ApiResource[], now: readonly ApiResource[]): boolean {
  return before.length === now.length && before.every((each, index) => each === now[index]);
}

async function textOf({ resources, load, text }: Described): Promise<string> {
  return text ?? JSON.stringify(groupVersionDocument(resources, await load()));
}

async function hashOf(described: Described): Promise<string> {
  described.hash ??= createHash('sha512')
    .update(await textOf(described))
    .digest('hex')
    .toUpperCase();
  return described.hash;
}

async function rootResponse(described: ReadonlyMap<string, Described>): Promise<ApiResponse> {
  const paths: Record<string, { readonly serverRelativeURL: string }> = {};
  for (const [name, each] of [...described].sort(([a], [b]) => (a < b ? -1 : 1)))
    paths[name] = { serverRelativeURL: `${ROOT}/${name}?hash=${await hashOf(each)}` };
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-cache, private' },
    body: JSON.stringify({ paths }),
  };
}

async function documentResponse(
  described: Described,
  name: string,
  { headers }: ApiRequest,
  requestedHash: string | null,
): Promise<ApiResponse> {
  const hash = await hashOf(described);
  const tag = { etag: `"${hash}"`, vary: 'Accept' };
  if (requestedHash && requestedHash !== hash) {
    const location = `${ROOT}/${name}?hash=${hash}`;
    return { status: 301, headers: { ...tag, location, 'cache-control': 'no-cache, private' }, body: '' };
  }
  // A document requested by its hash never changes.
  const caching = { 'cache-control': requestedHash ? 'public, immutable' : 'no-cache, private' };
  if (headers['if-none-match'] === tag.etag) return { status: 304, headers: { ...tag, ...caching }, body: '' };
  described.text ??= await textOf(described);
  return { status: 200, headers: { ...tag, ...caching, 'content-type': 'application/json' }, body: described.text };
}
