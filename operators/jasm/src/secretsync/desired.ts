import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { SECRET_LABELS } from '../api/names.ts';
import { type DesiredSecret, type SecretView, secrets } from './secrets.ts';

/** WantedMetadata describes the annotations and labels that a Secret should have, independent of its content. */
export interface WantedMetadata {
  readonly request: SecretSyncRequest;
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** The id of the workload that it is written for. */
  readonly askedBy: string;
  /** The value of the label `MANAGED_BY`. */
  readonly managedBy: string;
}

/** WantedSecret describes the Secret that should exist. */
export interface WantedSecret extends WantedMetadata {
  readonly data: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  /** The value of `force-sync` that this write satisfies. Undefined: none, and the recorded value stays. */
  readonly forced: string | undefined;
  /** Whether a workload must be restarted when the content changes. */
  readonly restarts: boolean;
}

type ExistingSecret = Pick<SecretView, 'isOurs' | 'appliedHash'> | undefined;

/** desiredSecret returns the desired state of a Secret, given the existing one. */
export function desiredSecret(secret: ExistingSecret, wanted: WantedSecret): DesiredSecret {
  const { request, data, version, forced } = wanted;
  const { operatorAnnotations, ...common } = commonDesired(secret, wanted);
  const desired = secrets.desired({
    ...common,
    content: { data },
    operatorAnnotations: { ...operatorAnnotations, version: version ?? null, forced },
    members: { type: request.type },
  });
  return { ...desired, annotationsWithContent: restartAnnotations(secret, desired.hash, wanted.restarts) };
}

/** desiredMetadata returns the desired annotations and labels of a Secret whose content stays. */
export function desiredMetadata(secret: SecretView, wanted: WantedMetadata): DesiredSecret {
  return secrets.desired(commonDesired(secret, wanted));
}

/** A different `askedBy` alone is no reason to write: several workloads may share the Secret. */
function commonDesired(secret: ExistingSecret, { request, deletionPolicy, askedBy, managedBy }: WantedMetadata) {
  const isOurs = secret?.isOurs ?? true;
  return {
    labels: { [SECRET_LABELS.provider]: request.provider },
    manager: managedBy,
    keys: 'leave',
    operatorAnnotations: {
      sourcePath: request.path,
      requestHash: request.hash,
      // A Secret that is not ours is never deleted.
      ...(isOurs ? { deletionPolicy: deletionPolicy === 'Delete' ? 'Delete' : null } : {}),
    },
    passiveAnnotations: { askedBy },
    ...(request.immutable ? { immutable: true } : {}),
  } as const;
}

/**
 * Replacing unknown content, as in a Secret that was handed over, or reverting an edit is no reason to restart a
 * workload.
 */
function restartAnnotations(
  secret: ExistingSecret,
  hash: string | undefined,
  restarts: boolean,
): DesiredSecret['annotationsWithContent'] {
  if (secret?.appliedHash === undefined || secret.appliedHash === hash) return {};
  return { restartFor: restarts ? hash : null };
}
