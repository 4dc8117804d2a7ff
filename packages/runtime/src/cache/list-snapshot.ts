import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Client, List, ListOptions } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { failureOf } from './failure.ts';
import type { Snapshot } from './reflector-target.ts';

const PAGE_SIZE = 500;

/** ListScope narrows what is listed and watched. */
export type ListScope = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;

/** ListSnapshotOptions says what to list and where to put it. */
export interface ListSnapshotOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list'>;
  readonly resource: Resource<T>;
  readonly scope: ListScope;
  /** `0` for whatever the server has at hand, empty for the newest state, else a version that the state must have reached. */
  readonly version: string;
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

/**
 * listSnapshot fetches the whole state and answers its resourceVersion. It pages only where that is cheap: a `limit`
 * together with a real version would make the server read past its watch cache.
 */
export async function listSnapshot<T extends KubernetesObject>(options: ListSnapshotOptions<T>): Promise<string> {
  const paged = options.version === '' || options.version === '0';
  if (!paged) {
    const list = await page(options, { resourceVersion: options.version, resourceVersionMatch: 'NotOlderThan' });
    return collect(list, options);
  }
  let list = await page(options, { limit: PAGE_SIZE, ...versionOf(options) });
  // Every page shows the state at the first one's version.
  const version = collect(list, options);
  while (list.metadata.continue) {
    try {
      list = await page(options, { limit: PAGE_SIZE, continue: list.metadata.continue });
    } catch (error) {
      if (failureOf(error).kind !== 'expired') throw error;
      // The server has compacted the version that the pages belong to: one list without pages cannot expire.
      options.snapshot.clear();
      return collect(await page(options, {}), options);
    }
    collect(list, options);
  }
  return version;
}

function versionOf(options: { readonly version: string }): Pick<ListOptions, 'resourceVersion'> {
  return options.version === '' ? {} : { resourceVersion: options.version };
}

async function page<T extends KubernetesObject>(
  { client, resource, scope, signal }: ListSnapshotOptions<T>,
  position: Pick<ListOptions, 'limit' | 'continue' | 'resourceVersion' | 'resourceVersionMatch'>,
): Promise<List<T>> {
  signal.throwIfAborted();
  return client.list(resource, { ...scope, ...position, signal });
}

function collect<T extends KubernetesObject>(list: List<T>, options: ListSnapshotOptions<T>): string {
  const version = list.metadata.resourceVersion;
  if (!version || version === '0') {
    throw new BowlineError(
      'BOWLINE_LIST_UNVERSIONED',
      `the list of ${options.resource.plural} carries no resourceVersion, so it cannot be followed by a watch`,
    );
  }
  for (const item of list.items) options.snapshot.add(item);
  return version;
}

/**
 * probeVersion is where the server's history stands now: the version of a consistent read of a single object. Selectors
 * are left out, because a server may have to scan everything to find one match; a name stays, because an identity may be
 * allowed nothing else.
 */
export async function probeVersion<T extends KubernetesObject>(
  client: Pick<Client, 'list'>,
  resource: Resource<T>,
  scope: ListScope,
  signal: AbortSignal,
): Promise<string | undefined> {
  const named = scope.fieldSelector?.startsWith('metadata.name=') === true;
  const list = await client.list(resource, {
    namespace: scope.namespace,
    ...(named ? { fieldSelector: scope.fieldSelector } : {}),
    metadataOnly: true,
    limit: 1,
    signal,
  });
  return list.metadata.resourceVersion;
}
