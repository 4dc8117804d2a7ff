import { isDeepStrictEqual } from 'node:util';
import { Secret } from '@bowline/kubernetes';
import { changed, managedContent } from '@bowline/runtime';
import type { Claim } from '@bowline/runtime/writing';
import { CONSENT_ANNOTATIONS, MANAGED_BY, OUR_MANAGERS, PAUSED, SECRET_ANNOTATIONS } from '../api/names.ts';
import { dataHash } from '../content/data-hash.ts';

const { dataHash: hash, syncedAt: time, managedKeys: keys, ...operatorAnnotations } = SECRET_ANNOTATIONS;

/** The type of a Secret without an explicit one. */
const DEFAULT_TYPE = 'Opaque';

/** secrets defines how the content of a Secret is stored, and what the cache keeps of it: hashes, no values. */
export const secrets = managedContent({
  resource: Secret,
  maps: ['data'],
  hash: ({ data }) => dataHash(data),
  managers: OUR_MANAGERS,
  annotations: { hash, time, keys },
  operatorAnnotations,
  more: ({ metadata, data = {}, type = DEFAULT_TYPE }, { isOurs, hash, managedHash }) => ({
    type,
    /** Whether the Secret must not be changed. */
    isPaused: metadata?.annotations?.[PAUSED] === 'true',
    isMergeAllowed: metadata?.annotations?.[CONSENT_ANNOTATIONS.mergeAllowed] === 'true',
    /** The keys of a Secret that is not ours: some may conflict with ours. */
    foreignKeys: isOurs ? undefined : Object.keys(data).sort().join(','),
    /** The hash of our part of the content: all of a Secret that is ours, otherwise the keys that we wrote. */
    ownHash: isOurs ? hash : managedHash,
  }),
});

/**
 * SecretView is the known state of a Secret. One that is not ours is written only to merge keys into it, with its
 * owner's consent.
 */
export type SecretView = ReturnType<typeof secrets.viewOf>;

/** DesiredSecret is the desired state of a Secret. */
export type DesiredSecret = ReturnType<typeof secrets.desired>;

/** claimOn returns our claim on a Secret: one that is not ours keeps its owner, who allows us to merge keys into it. */
export function claimOn({ isOurs }: SecretView): Claim {
  return isOurs ? 'ours' : 'guest';
}

/** OUR_SECRETS selects the Secrets that are ours; NOT_OUR_SECRETS all others. */
export const OUR_SECRETS = `${MANAGED_BY} in (${OUR_MANAGERS.join(',')})`;
export const NOT_OUR_SECRETS = `${MANAGED_BY} notin (${OUR_MANAGERS.join(',')})`;

/** secretChanged passes updates that change more of a SecretView than its version. */
export const secretChanged = changed(
  ({ resourceVersion: _before, ...before }: SecretView, { resourceVersion: _after, ...after }: SecretView) =>
    !isDeepStrictEqual(before, after),
);
