import { keyOf, keyString } from '@bowline/kubernetes';
import { changed, projectMetadata } from '@bowline/runtime';
import type { MetadataObject } from '@bowline/runtime/cache';
import { CONSENT_ANNOTATIONS } from '../api/names.ts';

/**
 * ForeignView is the part of a Secret that is not ours that the cache keeps: that it exists, and its version if keys
 * may be merged into it. All of them are kept, because any may conflict with a later request of a pod.
 */
export interface ForeignView {
  /** `namespace/name`. */
  readonly key: string;
  readonly mergeableVersion: string | undefined;
}

/** foreignView is the projection used by the cache. Values are never transferred. */
export const foreignView = projectMetadata((secret: MetadataObject): ForeignView => {
  const { annotations, resourceVersion } = secret.metadata;
  const isMergeable = annotations?.[CONSENT_ANNOTATIONS.mergeAllowed] === 'true';
  return { key: keyString(keyOf(secret)), mergeableVersion: isMergeable ? resourceVersion : undefined };
});

/** foreignChanged passes updates of Secrets that keys may be merged into, and creations and deletions of all. */
export const foreignChanged = changed(
  (before: ForeignView, after: ForeignView) => before.mergeableVersion !== after.mergeableVersion,
);
