import { type KubernetesObject, keyOf, keyString, type ObjectKey, type Resource } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { type Client, isExpired } from '@bowline/runtime/client';

/** UntilOptions bounds a wait. */
export interface UntilOptions {
  /** Real time after which the wait fails, so that a test that cannot succeed ends. Defaults to 90 s. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Selection selects the objects of a kind that a wait observes. */
export interface Selection {
  /** Defaults to all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

/** until waits, by watch, until an object exists and passes the test, and returns it. */
export async function until<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
  test: (object: T) => boolean,
  options?: UntilOptions,
): Promise<T> {
  const passes = (items: readonly T[]): boolean => items.some(test);
  const items = await untilList(client, resource, selectionOf(key), passes, options);
  const found = items.find(test);
  if (!found) throw new TypeError('the test passed to until() returns different results for the same object');
  return found;
}

/** untilGone waits, by watch, until an object does not exist. */
export async function untilGone<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
  options?: UntilOptions,
): Promise<void> {
  await untilList(client, resource, selectionOf(key), (items) => items.length === 0, options);
}

/** untilList waits, by watch, until the selected objects together pass the test, and returns them. */
export async function untilList<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  selection: Selection,
  test: (items: readonly T[]) => boolean,
  options: UntilOptions = {},
): Promise<readonly T[]> {
  const { timeoutMs = 90_000 } = options;
  const guard = AbortSignal.timeout(timeoutMs);
  const done = new AbortController();
  const signal = AbortSignal.any([guard, done.signal, ...(options.signal ? [options.signal] : [])]);
  let last: readonly T[] = [];
  try {
    for await (const items of states(client, resource, selection, signal)) {
      last = items;
      if (test(items)) return items;
    }
  } catch (cause) {
    if (!guard.aborted) throw cause;
    throw new BowlineError(
      'BOWLINE_UNTIL_TIMEOUT',
      `${resource.kind} ${JSON.stringify(selection)} did not reach the awaited state in ${timeoutMs} ms; last seen: ${describe(last)}`,
      { cause },
    );
  } finally {
    done.abort();
  }
  throw new TypeError('a watch ended without a reason');
}

/** states yields the selected objects now and after every change, without end. */
async function* states<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<readonly T[], void> {
  for (;;) {
    const list = await client.list(resource, { ...selection, signal });
    const items = new Map(list.items.map((item) => [keyString(keyOf(item)), item]));
    yield [...items.values()];
    const { resourceVersion } = list.metadata;
    const stream = await client.watch(resource, { ...selection, resourceVersion, signal });
    try {
      for await (const { type, object } of stream) {
        if (type === 'BOOKMARK') continue;
        if (type === 'DELETED') items.delete(keyString(keyOf(object)));
        else items.set(keyString(keyOf(object)), object);
        yield [...items.values()];
      }
    } catch (error) {
      // The list was too old for a watch: list again, as after a watch that ended.
      if (!isExpired(error)) throw error;
    }
    signal.throwIfAborted();
  }
}

function selectionOf(key: ObjectKey): Selection {
  return { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}` };
}

/** describe prints only fields that help and cannot hold secrets: names, versions, status. */
function describe(items: readonly KubernetesObject[]): string {
  if (items.length === 0) return 'none';
  const shown = items.slice(0, 5).map((item) => {
    const { name, resourceVersion, generation, deletionTimestamp, finalizers } = item.metadata ?? {};
    const status = 'status' in item ? item.status : undefined;
    return JSON.stringify({ name, resourceVersion, generation, deletionTimestamp, finalizers, status }).slice(0, 600);
  });
  return `${items.length}: ${shown.join(', ')}`;
}
