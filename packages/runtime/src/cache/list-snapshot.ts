import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import type { Client, List, ListOptions } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import { failureOf } from './failure.ts';
import type { Snapshot } from './reflector-target.ts';

const PAGE_SIZE = 500;

/** ListScope filters what is listed and watched. */
export type ListScope = Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly'>;

/** ListSnapshotOptions configures what to list and where to store it. */
export interface ListSnapshotOptions<T extends KubernetesObject> {
  readonly client: Pick<Client, 'list'>;
  readonly resource: Resource<T>;
  readonly scope: ListScope;
  /** `0` for any state the server has cached, empty for the newest state, otherwise a minimum version. */
  readonly version: string;
  readonly snapshot: Snapshot;
  readonly signal: AbortSignal;
}

/**
 * listSnapshot fetches the whole state and returns its resourceVersion. It uses pages only where they are cheap: a
 * `limit` together with a specific version would make the server bypass its watch cache.
 */
export async function listSnapshot<T extends KubernetesObject>(options: ListSnapshotOptions<T>): Promise<string> {
  const paged = options.version === '' || options.version === '0';
  if (!paged) {
    const list = await page(options, { resourceVersion: options.version, resourceVersionMatch: 'NotOlderThan' });
    return collect(list, options);
  }
  let list = await page(options, { limit: PAGE_SIZE, ...versionOf(options) });
  // Every page shows the state at the version of the first one.
  const version = collect(list, options);
  while (list.metadata.continue) {
    try {
      list = await page(options, { limit: PAGE_SIZE, continue: list.metadata.continue });
    } catch (error) {
      if (failureOf(error).kind !== 'expired') throw error;
      // The server has compacted the version that the pages belong to: a list without pages cannot expire.
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
      `the list of ${options.resource.plural} has no resourceVersion, so a watch cannot follow it`,
    );
  }
  for (const item of list.items) options.snapshot.add(item);
  return version;
}

/**
 * probeVersion returns the current version of the server's history: the version of a consistent read of a single
 * object. Selectors are omitted because a server may have to scan everything to find one match; a name is kept because
 * an identity may not be allowed anything else.
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
