import { keyOf, keyString } from '@bowline/kubernetes';
import { changed, projectMetadata } from '@bowline/runtime';
import type { MetadataObject } from '@bowline/runtime/cache';
import { CONSENT_ANNOTATIONS } from '../api/names.ts';

/**
 * ForeignView is what the cache keeps of a Secret that is not ours: that it is there, and its version where keys may be merged into
 * it. It is kept of all of them, because any may be in the way of a pod that asks tomorrow.
 */
export interface ForeignView {
  /** `namespace/name`. */
  readonly key: string;
  readonly mergeableVersion: string | undefined;
}

/** foreignView is the view of the cache. Values never cross the network. */
export const foreignView = projectMetadata((secret: MetadataObject): ForeignView => {
  const { annotations, resourceVersion } = secret.metadata;
  const isMergeable = annotations?.[CONSENT_ANNOTATIONS.mergeAllowed] === 'true';
  return { key: keyString(keyOf(secret)), mergeableVersion: isMergeable ? resourceVersion : undefined };
});

/** foreignChanged passes changes of Secrets that keys may be merged into, and the beginning and end of all. */
export const foreignChanged = changed(
  (before: ForeignView, after: ForeignView) => before.mergeableVersion !== after.mergeableVersion,
);
