import { createHash } from 'node:crypto';
import { apiVersionOf } from '@bowline/kubernetes';
import type { ApiResource, Subresource } from '../registry/api-resource.ts';
import { compareVersions } from './version-order.ts';

/** ApiGroup holds the served versions of a group, the preferred one first, and their resources. */
export interface ApiGroup {
  /** Empty for the core group. */
  readonly name: string;
  readonly versions: readonly ApiVersion[];
}

/** ApiVersion is one version of a group. */
export interface ApiVersion {
  readonly version: string;
  readonly resources: readonly ApiResource[];
}

/**
 * apiGroups groups the served resources: built-in groups in the order of their priority, then those of custom resources
 * by name.
 */
export function apiGroups(resources: readonly ApiResource[]): ApiGroup[] {
  const groups = new Map<string, ApiResource[]>();
  for (const each of resources) {
    const known = groups.get(each.group);
    if (known) known.push(each);
    else groups.set(each.group, [each]);
  }
  const isCustom = (members: readonly ApiResource[]): boolean => members.every(({ schema }) => schema === undefined);
  const entries = [...groups];
  const custom = entries.filter(([, members]) => isCustom(members)).sort(([a], [b]) => (a < b ? -1 : 1));
  const builtIn = entries.filter(([, members]) => !isCustom(members));
  return [...builtIn, ...custom].map(([name, members]) => ({ name, versions: versionsOf(members) }));
}

function versionsOf(members: readonly ApiResource[]): ApiVersion[] {
  const names = [...new Set(members.map(({ version }) => version))].sort(compareVersions);
  return names.map((version) => ({
    version,
    resources: members.filter((each) => each.version === version).sort((a, b) => (a.resource < b.resource ? -1 : 1)),
  }));
}

/** groupDocument returns the discovery document of one group. */
export function groupDocument({ name, versions }: ApiGroup): object {
  const list = versions.map(({ version }) => ({ groupVersion: apiVersionOf({ group: name, version }), version }));
  return { name, versions: list, preferredVersion: list[0] };
}

/** resourceListDocument returns the discovery document of one version of a group. */
export function resourceListDocument(group: string, { version, resources }: ApiVersion): object {
  return {
    kind: 'APIResourceList',
    // The core group, the oldest part of the API, omits its apiVersion.
    apiVersion: group === '' ? undefined : 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: resources.flatMap((each) => [
      resourceEntry(each),
      ...partsOf(each).map((part) => partEntry(each, part)),
    ]),
  };
}

function resourceEntry(resource: ApiResource): object {
  const { resource: name, singular, scope, kind, verbs, shortNames, categories } = resource;
  return {
    name,
    singularName: singular,
    namespaced: scope === 'Namespaced',
    kind,
    verbs,
    shortNames: notEmpty(shortNames),
    categories: notEmpty(categories),
    storageVersionHash: storageVersionHash(resource),
  };
}

function partEntry({ resource, scope, kind }: ApiResource, part: Subresource): object {
  return {
    name: `${resource}/${part.name}`,
    singularName: '',
    namespaced: scope === 'Namespaced',
    group: part.group || undefined,
    version: part.version || undefined,
    kind: part.kind ?? kind,
    verbs: part.verbs,
  };
}

/** aggregatedDocument returns the discovery document of all groups, in version v2 of its kind. */
export function aggregatedDocument(groups: readonly ApiGroup[]): object {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: { name: name || undefined },
      versions: versions.map(({ version, resources }) => ({
        version,
        resources: resources.map(aggregatedEntry),
        freshness: 'Current',
      })),
    })),
  };
}

function aggregatedEntry(resource: ApiResource): object {
  const { resource: name, singular, scope, kind, verbs, shortNames, categories } = resource;
  // Built-in kinds do not repeat the group and version that contain them.
  const { group = '', version = '' } = resource.schema ? {} : resource;
  const subresources = partsOf(resource).map((part) => ({
    subresource: part.name,
    responseKind: { group: part.group ?? group, version: part.version ?? version, kind: part.kind ?? kind },
    verbs: part.verbs,
  }));
  return {
    resource: name,
    responseKind: { group, version, kind },
    scope: scope === 'Namespaced' ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    shortNames: notEmpty(shortNames),
    categories: notEmpty(categories),
    subresources: notEmpty(subresources),
  };
}

function partsOf({ subresources }: ApiResource): Subresource[] {
  return [...subresources.values()];
}

function notEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}

/** Built-in kinds whose storage version differs from the served version. */
const STORED_AS: Readonly<Record<string, string>> = {
  'events.k8s.io/v1/Event': '/v1/Event',
  'autoscaling/v1/HorizontalPodAutoscaler': 'autoscaling/v2/HorizontalPodAutoscaler',
};

/**
 * storageVersionHash returns a hash by which clients notice a change of the storage version. Kinds that are not stored
 * have none.
 */
function storageVersionHash({
  group,
  version,
  kind,
  storageVersion,
  computeResponse,
  verbs,
}: ApiResource): string | undefined {
  if (computeResponse || !verbs.includes('list')) return undefined;
  const name = `${group}/${storageVersion ?? version}/${kind}`;
  return createHash('sha256')
    .update(STORED_AS[name] ?? name)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}
