import { shortenName } from '@bowline/machinery';

/**
 * OPERATOR is the identity of the operator. Its Lease, field managers and other names are derived from it. They are
 * API.
 */
export const OPERATOR = { name: 'configmap-sync', domain: 'bowline.dev' } as const;

/** GROUP is the API group of the kinds; it prefixes the labels, the annotations and the finalizer. They are API. */
export const GROUP = 'sync.bowline.dev';

export { MANAGED_BY } from '@bowline/runtime/install';

/** MANAGER is the value of the label `MANAGED_BY` on every copy: the cache selects copies by it. */
export const MANAGER = 'configmapsync';

/** LABELS are the labels that identify the ConfigMapSync of a copy. */
export const LABELS = {
  /** The namespace of the ConfigMapSync. */
  syncNamespace: `${GROUP}/sync-namespace`,
  /** The name of the ConfigMapSync, as `labelValueOf` writes it. */
  syncName: `${GROUP}/sync-name`,
  /** On a backup: the name of the ConfigMap whose content it saves, as `labelValueOf` writes it. */
  backupOf: `${GROUP}/backup-of`,
} as const;

/** ANNOTATIONS record the last sync of a copy. All of them are removed when it is released. */
export const ANNOTATIONS = {
  /**
   * The uid of the ConfigMapSync. A later one of the same name has not created the copy, and perhaps could not have: it
   * may take the copy over where it wants a copy itself, but never deletes it.
   */
  syncUid: `${GROUP}/sync-uid`,
  /** The source of its content, `namespace/name`. */
  source: `${GROUP}/source`,
  sourceUid: `${GROUP}/source-uid`,
  /** The hash of the source's whole content when this content was written. */
  sourceHash: `${GROUP}/source-hash`,
  /** The hash of the content that was written. A live hash that differs is drift. */
  appliedHash: `${GROUP}/applied-hash`,
  /** The keys that we write, which only we remove. */
  managedKeys: `${GROUP}/managed-keys`,
  /** When its content was last written, RFC 3339. */
  syncedAt: `${GROUP}/synced-at`,
  /** Set if it existed before it was synced. Such an object is never deleted. */
  adopted: `${GROUP}/adopted`,
  /** Of an adopted copy: the previous value of `MANAGED_BY`, which is restored. */
  previousManager: `${GROUP}/previous-manager`,
  /** The names of the labels and annotations that the spec sets on it, as JSON. */
  managedMetadata: `${GROUP}/managed-metadata`,
  /** Of a two-way sync: short hashes of the keys that both sides last agreed on, as JSON. */
  base: `${GROUP}/base`,
} as const;

/** REQUESTS are the annotations by which users request an action of a ConfigMapSync. */
export const REQUESTS = {
  /** Any new value repeats the sync once, and overwrites conflicts. */
  forceSync: `${GROUP}/force-sync`,
  /** The side that wins a conflict, `Source` or `Destination`. It is removed when done. */
  resolve: `${GROUP}/resolve`,
} as const;

/** FINALIZER keeps a ConfigMapSync until its copies are released. */
export const FINALIZER = `${GROUP}/finalizer`;

/** The maximum length of a label value. */
const MAX_LABEL_CHARACTERS = 63;

/** labelValueOf returns a name as a label value. A name that is too long is truncated and gets a hash suffix. */
export function labelValueOf(name: string): string {
  return shortenName(name, MAX_LABEL_CHARACTERS);
}
