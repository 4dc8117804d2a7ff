import { ConfigMap } from '@bowline/kubernetes';
import { managedContent } from '@bowline/runtime';
import { ANNOTATIONS, GROUP, LABELS, MANAGER } from '../api/names.ts';
import { contentHash } from '../content/content-hash.ts';

/** copies defines how a copy is stored, and what the cache keeps of it: hashes, no values. */
export const copies = managedContent({
  resource: ConfigMap,
  maps: ['data', 'binaryData'],
  hash: contentHash,
  managers: [MANAGER],
  annotations: {
    hash: ANNOTATIONS.appliedHash,
    time: ANNOTATIONS.syncedAt,
    keys: ANNOTATIONS.managedKeys,
    metadata: ANNOTATIONS.managedMetadata,
    adopted: ANNOTATIONS.adopted,
    previousManager: ANNOTATIONS.previousManager,
  },
  operatorAnnotations: {
    syncUid: ANNOTATIONS.syncUid,
    source: ANNOTATIONS.source,
    sourceUid: ANNOTATIONS.sourceUid,
    sourceHash: { annotation: ANNOTATIONS.sourceHash, keep: 'nothing' },
    base: { annotation: ANNOTATIONS.base, keep: 'hash' },
  },
  labelPrefix: `${GROUP}/`,
  backup: { suffix: '-before-sync', label: LABELS.backupOf },
});

/** CopyView is the part of a copy that the cache keeps. */
export type CopyView = ReturnType<typeof copies.viewOf>;

/** DesiredCopy is the desired state of every copy of a ConfigMapSync; only namespace and name differ. */
export type DesiredCopy = ReturnType<typeof copies.desired>;
