import { createHash } from 'node:crypto';
import { forEachConcurrently } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';

/** Identified identifies an object by resource, namespace and name. */
export interface Identified {
  /** Plural and group: `configmaps`, `deployments.apps`. */
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Fingerprint maps the identity of every stored object to a hash of its content, including its resourceVersion. */
export type Fingerprint = ReadonlyMap<string, string>;

/** Objects that change by themselves: Leases are renewed, Events are about other objects, ComponentStatuses are not stored. */
const RESTLESS: ReadonlySet<string> = new Set([
  'leases.coordination.k8s.io',
  'events',
  'events.events.k8s.io',
  'componentstatuses',
]);

interface ResourceList {
  readonly resources: readonly { readonly name: string; readonly verbs: readonly string[] }[];
}

interface GroupList {
  readonly groups: readonly { readonly name: string; readonly preferredVersion: { readonly groupVersion: string } }[];
}

interface ObjectList {
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[];
}

/** takeFingerprint reads every object of every kind that the API server stores, except those selected by `without`. */
export async function takeFingerprint(client: Client, without: (object: Identified) => boolean): Promise<Fingerprint> {
  const hashes = new Map<string, string>();
  const failures = await forEachConcurrently(await listed(client), 4, async ({ resource, path }) => {
    const { items } = JSON.parse(await client.raw(path)) as ObjectList;
    for (const item of items) {
      const object = { resource, namespace: item.metadata.namespace, name: item.metadata.name };
      if (without(object)) continue;
      hashes.set(describe(object), createHash('sha256').update(JSON.stringify(item)).digest('hex'));
    }
  });
  // Objects of kinds that could not be read would look deleted.
  for (const { error } of failures) throw error;
  return hashes;
}

/** differences returns the objects that have changed. */
export function differences(before: Fingerprint, after: Fingerprint): readonly string[] {
  return [
    ...[...before].flatMap(([object, hash]) => {
      if (!after.has(object)) return [`${object} was deleted`];
      return after.get(object) === hash ? [] : [`${object} changed`];
    }),
    ...[...after.keys()].filter((object) => !before.has(object)).map((object) => `${object} was created`),
  ];
}

async function listed(client: Client): Promise<readonly { readonly resource: string; readonly path: string }[]> {
  const { groups } = JSON.parse(await client.raw('/apis')) as GroupList;
  const served = [
    { group: '', path: '/api/v1' },
    ...groups.map(({ name, preferredVersion }) => ({ group: name, path: `/apis/${preferredVersion.groupVersion}` })),
  ];
  const kinds = served.map(async ({ group, path }) => {
    const { resources } = JSON.parse(await client.raw(path)) as ResourceList;
    return resources
      .filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'))
      .map(({ name }) => ({ resource: group === '' ? name : `${name}.${group}`, path: `${path}/${name}` }))
      .filter(({ resource }) => !RESTLESS.has(resource));
  });
  return (await Promise.all(kinds)).flat();
}

function describe({ resource, namespace, name }: Identified): string {
  return `${resource} ${namespace === undefined ? name : `${namespace}/${name}`}`;
}
