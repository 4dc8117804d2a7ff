import type { ListResult } from '../printing/forms.ts';
import { viewed } from '../printing/render.ts';
import { expired, notFound, versionTooLarge } from '../status/api-status.ts';
import type { Stored } from '../storage/stored.ts';
import { keyOf, type RequestContext, resourceName } from './context.ts';
import { continueToken, type ListOptions, listOptions, readVersion, tooOldToContinue } from './list-options.ts';

/** How long a read waits for a version that is not written yet before it fails. */
const MAX_WAIT_MS = 3_000;

/** readObject returns the object that the request names. */
export async function readObject(context: RequestContext): Promise<Stored> {
  const { storage, resource, info, query } = context;
  await untilWritten(context, readVersion(query.get('resourceVersion')) ?? 0);
  const stored = storage.get(resource.collection, keyOf(context));
  if (!stored) throw notFound(resourceName(context), info.name);
  return viewed(resource, stored);
}

/** readList returns the objects that the request selects, at most as many as its limit. */
export async function readList(context: RequestContext): Promise<ListResult> {
  const { storage, resource, info, query } = context;
  const options = listOptions(resource, query, info.name);
  const { filter, limit, after } = options;
  const at = await revisionOf(context, options);
  const namespace = info.namespace === '' ? undefined : info.namespace;
  const items: Stored[] = [];
  let behind = 0;
  for (const each of storage.select(resource.collection, { namespace, after: after?.key }, at)) {
    const stored = viewed(resource, each);
    if (!filter.matches(stored)) continue;
    if (limit === undefined || items.length < limit) items.push(stored);
    else if (filter.isEmpty) behind++;
    else {
      // The number of remaining objects is not known without filtering each: the API server does not report it either.
      behind = 1;
      break;
    }
  }
  const last = items.at(-1);
  return {
    items,
    revision: at,
    continueToken: behind > 0 && last ? continueToken(at, last.key) : undefined,
    remaining: behind > 0 && filter.isEmpty ? behind : undefined,
  };
}

/** revisionOf returns the revision at which a list is read. */
async function revisionOf(context: RequestContext, options: ListOptions): Promise<number> {
  const { storage } = context;
  const { after, resourceVersion, match } = options;
  if (after) {
    // A negative revision requests the rest of the list in its current state.
    if (after.revision < 0) return storage.revision;
    if (after.revision < storage.oldestRevision) throw tooOldToContinue(continueToken(-1, after.key));
    return after.revision;
  }
  await untilWritten(context, resourceVersion ?? 0);
  if (match !== 'Exact' || resourceVersion === undefined) return storage.revision;
  if (resourceVersion < storage.oldestRevision) throw expired('The resourceVersion for the provided list is too old.');
  return resourceVersion;
}

/** untilWritten waits briefly for a revision that a client knows from elsewhere. */
export async function untilWritten(
  { storage, clock, request, resource }: RequestContext,
  revision: number,
): Promise<void> {
  if (storage.revision >= revision) return;
  const enough = new AbortController();
  using _watching = storage.watch(resource.collection, () => {
    if (storage.revision >= revision) enough.abort();
  });
  await clock.sleep(MAX_WAIT_MS, AbortSignal.any([enough.signal, request.signal])).catch(() => undefined);
  if (storage.revision < revision) throw versionTooLarge(revision, storage.revision);
}
