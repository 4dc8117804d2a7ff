import {
  ConfigMap,
  keyOf,
  keyString,
  Namespace,
  type ObjectKey,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { labelSelector } from '@bowline/machinery';
import {
  annotationsChanged,
  anyOf,
  changed,
  controller,
  generationChanged,
  labelsChanged,
  trigger,
} from '@bowline/runtime';
import type { MetadataObject } from '@bowline/runtime/cache';
import type { CacheReads } from '@bowline/runtime/controller';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { MANAGED_BY, MANAGER, REQUESTS } from '../api/names.ts';
import { authors } from '../authorization/author-review.ts';
import { type CopyView, copies } from '../copies/copies.ts';
import { ownerOf } from '../copies/ownership.ts';
import type { Deps } from '../deps.ts';
import { anyNamespace, syncIndexes, YES } from './sync-indexes.ts';

/** Thousands of copies whose writes are all slow, for example because of a slow third-party webhook, take this long. */
const MAX_RUN_MS = 1_800_000;

/**
 * syncController configures the watches that a ConfigMapSync depends on, and what the cache keeps:
 * - copies, by their label: hashes instead of values;
 * - other ConfigMaps that a ConfigMapSync reads or wants to write: only that they changed. The rest is not kept at all;
 * - namespaces: their metadata;
 * - our webhook configuration, which must exist before any ConfigMapSync is reconciled;
 * - other ConfigMapSyncs, whose deletion may end a cycle.
 */
export const syncController = controller(ConfigMapSync, { concurrency: 8, timeoutMs: MAX_RUN_MS, indexes: syncIndexes })
  .using<Deps>()
  .watches(ConfigMap, {
    as: 'copies',
    labelSelector: `${MANAGED_BY}=${MANAGER}`,
    view: copies.view,
    indexes: { owner: ({ labels }: CopyView) => [ownerOf(labels) ?? ''] },
    map: (copy, cache) => [...ownersOf(copy, cache), ...readersOf(copy, cache), ...writersOf(copy, cache)],
  })
  .watches(ConfigMap, {
    as: 'sources',
    // Copies are watched above: a thousand of them, written at once, must not be processed twice.
    labelSelector: `${MANAGED_BY}!=${MANAGER}`,
    view: trigger(
      (key, _, cache) =>
        cache.list(ConfigMapSync, { by: { reads: keyString(key) } }).length > 0 ||
        targetsOf(key).some((writes) => cache.list(ConfigMapSync, { by: { writes } }).length > 0),
    ),
    map: ({ metadata: { namespace, name = '' } }, cache) => {
      const key = { namespace, name };
      return [...readersOf(key, cache), ...writersOf(key, cache)];
    },
  })
  .watches(Namespace, {
    view: 'metadata',
    clusterWideOnly: true,
    when: anyOf(
      labelsChanged(),
      changed(
        (before: MetadataObject, after) => before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp,
      ),
    ),
    map: ({ metadata: { name = '', labels } }, cache) => {
      const naming = cache.list(ConfigMapSync, { by: { namespace: name } });
      const selecting = cache.list(ConfigMapSync, { by: { selecting: YES } });
      // Whether the authors in it are reviewed may depend on its labels.
      const inside = cache.list(ConfigMapSync, { namespace: name });
      // A cycle through a selector may end with them.
      const cyclic = cache.list(ConfigMapSync, { by: { cyclic: YES } });
      return [...naming, ...inside, ...cyclic, ...selecting.filter((sync) => selects(sync, labels))].map(keyOf);
    },
  })
  .watches(ValidatingWebhookConfiguration, {
    ...authors.configuration,
    map: (_, cache) => cache.list(ConfigMapSync).map(keyOf),
  })
  .watches(ConfigMapSync, {
    as: 'others',
    when: generationChanged,
    map: (_, cache) => cache.list(ConfigMapSync, { by: { cyclic: YES } }).map(keyOf),
  })
  .ensures(ConfigMap, { remove: true })
  .when(anyOf(generationChanged, annotationsChanged(...Object.values(REQUESTS))));

/** SyncContext is the context of a run of the controller. */
export type SyncContext = Parameters<Parameters<(typeof syncController)['reconcile']>[0]>[0];

/** Syncs reads ConfigMapSyncs by their indexes. */
type Syncs = CacheReads<{
  readonly [K in (typeof ConfigMapSync)['id']]: {
    readonly value: ConfigMapSync;
    readonly index: keyof typeof syncIndexes;
  };
}>;

/** ownersOf returns the ConfigMapSync that a copy's labels name. */
function ownersOf({ labels }: CopyView, cache: Syncs): readonly ObjectKey[] {
  const owner = ownerOf(labels);
  return owner === undefined ? [] : cache.list(ConfigMapSync, { by: { owner } }).map(keyOf);
}

/**
 * readersOf returns the ConfigMapSyncs whose source it is, or, in a two-way sync, one of the sides. A copy may be the
 * source of others.
 */
function readersOf(key: ObjectKey, cache: Syncs): readonly ObjectKey[] {
  return cache.list(ConfigMapSync, { by: { reads: keyString(key) } }).map(keyOf);
}

/**
 * writersOf returns the ConfigMapSyncs that want a copy of that name there: when its owner releases it, another may
 * take it over.
 */
function writersOf(key: ObjectKey, cache: Syncs): readonly ObjectKey[] {
  return targetsOf(key).flatMap((writes) => cache.list(ConfigMapSync, { by: { writes } }).map(keyOf));
}

function targetsOf(key: ObjectKey): readonly string[] {
  return [keyString(key), anyNamespace(key.name)];
}

/** The compiled selectors, as long as the ConfigMapSync is unchanged: each is matched against every namespace. */
const selectors = new WeakMap<object, ReturnType<typeof labelSelector>>();

function selects({ spec }: ConfigMapSync, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { destinationSelector: wanted } = spec;
  if (!wanted) return false;
  let selector = selectors.get(wanted);
  if (!selector) {
    try {
      selector = labelSelector(wanted);
    } catch {
      // Its own run reports what is wrong with it.
      return false;
    }
    selectors.set(wanted, selector);
  }
  return selector.matches(labels);
}
