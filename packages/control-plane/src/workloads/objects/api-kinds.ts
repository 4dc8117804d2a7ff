import { type Resource, resource } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';

/** ApiKind is a kind that the server serves. */
export interface ApiKind {
  readonly resource: Resource;
  readonly verbs: ReadonlySet<string>;
}

/** ApiKinds holds the kinds that the server serves at one moment. */
export interface ApiKinds {
  /** Every kind once, in the version that the server prefers. */
  readonly preferred: readonly ApiKind[];
  /** find returns the kind that an owner reference names, in the preferred version; undefined if it is not served. */
  find(apiVersion: string, kind: string): Resource | undefined;
  /** The group versions whose server did not respond: their kinds may be missing. */
  readonly stale: readonly string[];
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

interface DiscoveredGroup {
  readonly metadata?: { readonly name?: string };
  readonly versions?: readonly {
    readonly version: string;
    readonly freshness?: string;
    readonly resources?: readonly {
      readonly resource: string;
      readonly responseKind?: { readonly kind?: string };
      readonly scope: string;
      readonly verbs?: readonly string[];
    }[];
  }[];
}

/** readApiKinds reads the served kinds, with the two requests of aggregated discovery. */
export async function readApiKinds(client: Pick<Client, 'raw'>, signal?: AbortSignal): Promise<ApiKinds> {
  const [core, groups] = await Promise.all([readGroups(client, '/api', signal), readGroups(client, '/apis', signal)]);
  return apiKindsOf([...core, ...groups]);
}

async function readGroups(
  client: Pick<Client, 'raw'>,
  path: string,
  signal: AbortSignal | undefined,
): Promise<readonly DiscoveredGroup[]> {
  const text = await client.raw(path, { accept: AGGREGATED, signal });
  // Narrowed by its kind: servers without aggregated discovery return a different one.
  const { kind, items } = JSON.parse(text) as { kind?: string; items?: readonly DiscoveredGroup[] };
  if (kind === 'APIGroupDiscoveryList') return items ?? [];
  throw new BowlineError(
    'BOWLINE_WORKLOADS_DISCOVERY',
    `cannot read the kinds below ${path}: the server returned ${kind ?? 'no kind'} instead of APIGroupDiscoveryList; it must be Kubernetes 1.30 or later`,
  );
}

/** apiKindsOf reads the documents of aggregated discovery. Versions are in order of preference. */
export function apiKindsOf(groups: readonly DiscoveredGroup[]): ApiKinds {
  const preferred: ApiKind[] = [];
  const byName = new Map<string, Resource>();
  const stale: string[] = [];
  for (const { metadata, versions = [] } of groups) {
    const group = metadata?.name ?? '';
    const known = new Map<string, Resource>();
    for (const { version, freshness, resources = [] } of versions) {
      const apiVersion = group === '' ? version : `${group}/${version}`;
      if (freshness === 'Stale') stale.push(apiVersion);
      for (const { resource: plural, responseKind, scope, verbs = [] } of resources) {
        const kind = responseKind?.kind ?? '';
        if (kind === '') continue;
        const found = known.get(plural) ?? describe(group, version, kind, plural, scope);
        if (!known.has(plural)) {
          known.set(plural, found);
          preferred.push({ resource: found, verbs: new Set(verbs) });
        }
        byName.set(`${apiVersion} ${kind}`, found);
      }
    }
  }
  return { preferred, stale, find: (apiVersion, kind) => byName.get(`${apiVersion} ${kind}`) };
}

function describe(group: string, version: string, kind: string, plural: string, scope: string): Resource {
  return resource({
    group,
    version,
    kind,
    plural,
    scope: scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
  });
}
