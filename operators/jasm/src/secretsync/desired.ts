import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { SECRET_LABELS } from '../api/names.ts';
import { type DesiredSecret, type SecretView, secrets } from './secrets.ts';

/** WantedMarks are what a Secret should say about itself, whatever it holds. */
export interface WantedMarks {
  readonly request: SecretSyncRequest;
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** The id of the workload that it is written for. */
  readonly askedBy: string;
  /** The value of the label `MANAGED_BY`. */
  readonly managedBy: string;
}

/** WantedSecret is what a Secret should be. */
export interface WantedSecret extends WantedMarks {
  readonly data: Readonly<Record<string, string>>;
  readonly version: string | undefined;
  /** The value of `force-sync` that is obeyed with this. Undefined: none, and what it remembers stays. */
  readonly forced: string | undefined;
  /** Whether some workload is to be restarted when the content changes. */
  readonly restarts: boolean;
}

type Seen = Pick<SecretView, 'isOurs' | 'appliedHash'> | undefined;

/** desiredSecret is what a Secret should be, given the one that exists. */
export function desiredSecret(secret: Seen, wanted: WantedSecret): DesiredSecret {
  const { request, data, version, forced } = wanted;
  const { marks, ...common } = commonOf(secret, wanted);
  const desired = secrets.desired({
    ...common,
    content: { data },
    marks: { ...marks, version: version ?? null, forced },
    members: { type: request.type },
  });
  return { ...desired, contentMarks: restartMarks(secret, desired.hash, wanted.restarts) };
}

/** desiredMarks is what a Secret should say whose content is not touched. */
export function desiredMarks(secret: SecretView, wanted: WantedMarks): DesiredSecret {
  return secrets.desired(commonOf(secret, wanted));
}

/** For whom it was written is no reason to write: others may share it. */
function commonOf(secret: Seen, { request, deletionPolicy, askedBy, managedBy }: WantedMarks) {
  const isOurs = secret?.isOurs ?? true;
  return {
    labels: { [SECRET_LABELS.provider]: request.provider },
    manager: managedBy,
    keys: 'leave',
    marks: {
      sourcePath: request.path,
      requestHash: request.hash,
      // What is not ours is never deleted.
      ...(isOurs ? { deletionPolicy: deletionPolicy === 'Delete' ? 'Delete' : null } : {}),
    },
    quietMarks: { askedBy },
    ...(request.immutable ? { immutable: true } : {}),
  } as const;
}

/** What takes the place of nothing known, as in a Secret that was handed over, or of an edit, is no reason to restart anybody. */
function restartMarks(secret: Seen, hash: string | undefined, restarts: boolean): DesiredSecret['contentMarks'] {
  if (secret?.appliedHash === undefined || secret.appliedHash === hash) return {};
  return { restartFor: restarts ? hash : null };
}
