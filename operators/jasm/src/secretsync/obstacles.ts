import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { CONSENT_ANNOTATIONS, MANAGED_BY, OUR_MANAGERS } from '../api/names.ts';
import type { Problem } from './problem.ts';
import type { SecretView } from './secrets.ts';

/**
 * KnownSecret is the known state of a Secret: `foreign` is a Secret that is not ours and of which nothing else is
 * known.
 */
export type KnownSecret = SecretView | 'foreign' | undefined;

/** isKnown reports whether a Secret exists and is known; it is false for `foreign`. */
export function isKnown(secret: KnownSecret): secret is SecretView {
  return secret !== undefined && secret !== 'foreign';
}

/** The maximum number of names in one message. */
const MAX_NAMED_KEYS = 10;

/** obstacleTo returns why a request cannot be fulfilled with the existing Secret, whatever its source holds. */
export function obstacleTo(request: SecretSyncRequest, secret: KnownSecret): Problem | undefined {
  const { secretName: name, creationPolicy } = request;
  if (secret === undefined) {
    if (creationPolicy !== 'Merge') return undefined;
    return failed(
      `Secret ${name} does not exist, and creationPolicy Merge does not create it: create it with the annotation ${CONSENT_ANNOTATIONS.mergeAllowed}: "true", or use CreateOrMerge`,
    );
  }
  if (!isKnown(secret) || !secret.isOurs) return obstacleToMerge(request, secret);
  if (secret.type !== request.type) {
    return failed(
      `Secret ${name} has type ${secret.type}, but type ${request.type} is requested, and a type cannot be changed: delete the Secret, or request its type`,
    );
  }
  return secret.isImmutable && secret.operatorAnnotations.requestHash !== request.hash
    ? immutableProblem(request)
    : undefined;
}

/** immutableProblem returns the problem of a Secret that cannot be written. */
export function immutableProblem({ secretName: name }: SecretSyncRequest): Problem {
  return failed(`Secret ${name} is immutable and has different content: delete it, or choose another secretName`);
}

function obstacleToMerge({ secretName: name, creationPolicy }: SecretSyncRequest, secret: SecretView | 'foreign') {
  const transferHint = `label it ${MANAGED_BY}=${OUR_MANAGERS[0]} to transfer it to JASM, which then replaces its content`;
  if (creationPolicy === 'Create') {
    return conflict(`Secret ${name} exists and is not managed by JASM: ${transferHint}, or choose another secretName`);
  }
  if (!isKnown(secret) || !secret.isMergeAllowed) {
    return conflict(
      `Secret ${name} is not managed by JASM and does not allow merging keys into it: annotate it with ${CONSENT_ANNOTATIONS.mergeAllowed}: "true", or ${transferHint}`,
    );
  }
  if (secret.isImmutable)
    return failed(
      `Secret ${name} is immutable, so keys cannot be merged into it: recreate it without immutable, or choose another secretName`,
    );
  return undefined;
}

/** keyConflict returns the problem that keys of another owner have the names of ours. */
export function keyConflict({ secretName: name }: SecretSyncRequest, keys: readonly string[]): Problem {
  const named = keys.slice(0, MAX_NAMED_KEYS).join(', ');
  return conflict(
    `Secret ${name} is not managed by JASM and already has the keys ${named}${keys.length > MAX_NAMED_KEYS ? ', …' : ''}: remove them from the Secret, or select other keys`,
  );
}

/** modifiedOnWrite returns the problem that a Secret was not stored as it was written. */
export function modifiedOnWrite({ secretName: name }: SecretSyncRequest): Problem {
  return failed(
    `Secret ${name} is changed while it is being written, probably by a mutating webhook: exclude Secrets with the label ${MANAGED_BY} from that webhook`,
  );
}

/** usedByWorkload returns the problem that a Secret serves another workload. */
export function usedByWorkload({ secretName: name }: SecretSyncRequest, workload: string): Problem {
  return conflict(
    `Secret ${name} is used by ${workload}, which requests different content: request the same content, or choose another secretName; the Secret becomes available when that workload is deleted`,
  );
}

function conflict(message: string): Problem {
  return { reason: 'SecretConflict', message };
}

function failed(message: string): Problem {
  return { reason: 'SecretSyncFailed', message };
}
