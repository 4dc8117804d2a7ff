import { shortName } from '@bowline/machinery';

/** OPERATOR is who the operator is. Its Lease, field managers and other names follow from it. They are API. */
export const OPERATOR = { name: 'configmap-sync', domain: 'bowline.dev' } as const;

/** GROUP is the API group of the kinds; its labels, annotations and the finalizer begin with it. They are API. */
export const GROUP = 'sync.bowline.dev';

export { MANAGED_BY } from '@bowline/runtime/install';

/** MANAGER is the value of the label `MANAGED_BY` on every copy: the cache selects copies by it. */
export const MANAGER = 'configmapsync';

/** LABELS are those that say which ConfigMapSync a copy belongs to. */
export const LABELS = {
  /** The namespace of the ConfigMapSync. */
  syncNamespace: `${GROUP}/sync-namespace`,
  /** The name of the ConfigMapSync, as `labelValueOf` writes it. */
  syncName: `${GROUP}/sync-name`,
  /** On a backup: the name of the ConfigMap whose content it saves, as `labelValueOf` writes it. */
  backupOf: `${GROUP}/backup-of`,
} as const;

/** ANNOTATIONS are what a copy remembers about its last sync. All of them go when it is let go. */
export const ANNOTATIONS = {
  /**
   * The uid of the ConfigMapSync. One of the same name that comes later has not made the copy, and perhaps could not have: it may
   * take it over where it wants a copy itself, and deletes it nowhere.
   */
  syncUid: `${GROUP}/sync-uid`,
  /** Where its content comes from, `namespace/name`. */
  source: `${GROUP}/source`,
  sourceUid: `${GROUP}/source-uid`,
  /** The hash of the source's whole content when this content was written. */
  sourceHash: `${GROUP}/source-hash`,
  /** The hash of the content that was written. A live hash that differs is drift. */
  appliedHash: `${GROUP}/applied-hash`,
  /** The keys that we write, and with them whose removal is ours to do. */
  managedKeys: `${GROUP}/managed-keys`,
  /** When its content was last written, RFC 3339. */
  syncedAt: `${GROUP}/synced-at`,
  /** That it existed before it was synced. Such an object is never deleted. */
  adopted: `${GROUP}/adopted`,
  /** Of an adopted copy: the value of `MANAGED_BY` before, which it gets back. */
  previousManager: `${GROUP}/previous-manager`,
  /** The names of the labels and annotations that the spec gives it, as JSON. */
  managedMetadata: `${GROUP}/managed-metadata`,
  /** Of a two-way sync: short hashes of the keys that both sides last agreed on, as JSON. */
  base: `${GROUP}/base`,
} as const;

/** REQUESTS are annotations with which people ask something of a ConfigMapSync. */
export const REQUESTS = {
  /** Any new value repeats the sync once, over conflicts. */
  forceSync: `${GROUP}/force-sync`,
  /** The side that wins a conflict, `Source` or `Destination`. Removed when done. */
  resolve: `${GROUP}/resolve`,
} as const;

/** FINALIZER keeps a ConfigMapSync until its copies are dealt with. */
export const FINALIZER = `${GROUP}/finalizer`;

/** The longest value that a label may have. */
const MOST_LABEL_CHARACTERS = 63;

/** labelValueOf is a name as the value of a label: cut, and told apart by a hash, where it is too long for one. */
export function labelValueOf(name: string): string {
  return shortName(name, MOST_LABEL_CHARACTERS);
}
