import { planContent } from '@bowline/runtime/writing';
import type { Requester, RequestingPod } from '../pods/requesters.ts';
import { desiredMetadata } from './desired.ts';
import { forcedBy } from './forced.ts';
import { type ActiveRequest, type Failure, nextRepairAt, type Repairs } from './memory.ts';
import { isKnown, type KnownSecret, obstacleTo } from './obstacles.ts';
import type { Problem } from './problem.ts';
import { claimOn, type SecretView, secrets } from './secrets.ts';
import { type Serving, servedPods } from './serving.ts';

/** Situation holds everything that decides what to do about a requested Secret. Times are monotonic. */
export interface Situation {
  readonly serving: Serving;
  readonly secret: KnownSecret;
  /** Whether the lead is permitted to read what it requests. */
  readonly isPermitted: boolean;
  /** Whether the provider can return a version without the value. */
  readonly canProbeVersion: boolean;
  /** The deletion policy to record: `Delete` if every requester sets it. */
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** The hash of the request that was last answered for a pod. */
  readonly handledHashOf: (pod: RequestingPod) => string | undefined;
  /** The instant after which the reason to read for the lead's request arose; see `readNeededSince`. */
  readonly readNeededSince: number;
  readonly readAt: number | undefined;
  readonly failure: Failure | undefined;
  readonly repairs: Repairs;
  readonly metadataRepairs: Repairs;
  readonly now: number;
  /**
   * The instant of this run, later than all before it; see `orderedClock`. The instants of pods are of the same clock.
   */
  readonly instant: number;
  /** How often a source is read without any other reason. 0: never. */
  readonly resyncMs: number;
}

/** The reason to read a source. */
export type ReadCause = 'absent' | 'request' | 'drift' | 'pod' | 'forced' | 'refresh' | 'retry';

/** SecretStep is the next action on a Secret. */
export type SecretStep =
  /**
   * Do nothing, or nothing before a delay. `isServed` reports whether all served workloads have what they requested.
   */
  | { readonly step: 'rest'; readonly isServed: boolean; readonly againInMs?: number | undefined }
  /** Someone has to fix a problem; `againInMs` is the delay after which it is retried anyway. */
  | { readonly step: 'stop'; readonly problem: Problem; readonly againInMs?: number | undefined }
  /** The content is right, but the annotations or labels are not. */
  | { readonly step: 'mark'; readonly secret: SecretView }
  | ReadStep;

/** ReadStep reads the source, and writes the Secret if something changed; see `ReadReason`. */
export interface ReadStep {
  readonly step: 'read';
  readonly cause: ReadCause;
  readonly since: number;
  readonly known: string | undefined;
  readonly force: boolean;
}

const AT_REST = { step: 'rest', isServed: false } as const;

/** A periodic read may be early by this fraction of its period, so that Secrets of one source share it. */
const EARLY_FRACTION = 0.1;

/** planSecret decides the next action on a Secret. The first matching rule counts. */
export function planSecret(situation: Situation): SecretStep {
  const { serving, secret, isPermitted, deletionPolicy, failure, now } = situation;
  const { lead } = serving;
  const { request } = lead;
  // Pods that are being deleted get nothing new, and keep what they have.
  if (lead.isShuttingDown || !isPermitted) return AT_REST;
  if (isKnown(secret) && (secret.isPaused || secret.isTerminating)) return AT_REST;
  const obstacle = obstacleTo(request, secret);
  if (obstacle) return { step: 'stop', problem: obstacle };
  const reason = reasonToRead(situation);
  if (reason) {
    if (failure && now < failure.until && !hasChangedSince(situation, failure)) {
      return { step: 'stop', problem: failure.problem, againInMs: failure.until - now };
    }
    const waitMs = repairDelayMs(situation, reason);
    return waitMs > 0 ? { ...AT_REST, againInMs: waitMs } : { step: 'read', ...reason };
  }
  if (isKnown(secret) && !hasDesiredMetadata(secret, { request, deletionPolicy })) {
    const againInMs = nextRepairAt(situation.metadataRepairs) - now;
    return againInMs > 0 ? { step: 'rest', isServed: true, againInMs } : { step: 'mark', secret };
  }
  return { step: 'rest', isServed: true, againInMs: nextRefresh(situation)?.inMs };
}

function hasDesiredMetadata(
  secret: SecretView,
  wanted: Pick<Situation, 'deletionPolicy'> & Pick<Requester, 'request'>,
): boolean {
  const desired = desiredMetadata(secret, { ...wanted, askedBy: '', managedBy: '' });
  return planContent(secrets, secret, desired, { claim: claimOn }).step === 'keep';
}

/** activeRequestOf returns the Pursuit of a run that takes a step. */
export function activeRequestOf(
  { serving, readNeededSince: since, instant: at }: Situation,
  step: SecretStep,
): ActiveRequest {
  const isActive = step.step === 'read' || (step.step === 'stop' && step.againInMs !== undefined);
  return { requestHash: isActive ? serving.lead.request.hash : undefined, since, at };
}

/** unhandledPods returns the served pods for which nothing was read yet. */
export function unhandledPods(situation: Situation): readonly RequestingPod[] {
  const { serving, secret, canProbeVersion } = situation;
  return servedPods(serving).filter((requestingPod) => {
    if (situation.handledHashOf(requestingPod) === serving.lead.request.hash) return false;
    if (!requestingPod.isInitial || !isKnown(secret)) return true;
    return (canProbeVersion && secret.operatorAnnotations.version !== undefined) || !isOlderThan(requestingPod, secret);
  });
}

/**
 * If versions cannot be compared, only reading the value would help: after a restart, pods that are older than the
 * content are assumed to have received it.
 */
function isOlderThan({ pod }: RequestingPod, { writtenAt }: SecretView): boolean {
  return pod.createdAt <= Date.parse(writtenAt ?? '');
}

type Reason = Omit<ReadStep, 'step'>;

function reasonToRead(situation: Situation): Reason | undefined {
  const { serving, secret, failure, now, instant, readNeededSince } = situation;
  const { request } = serving.lead;
  const pods = unhandledPods(situation);
  // A retry needs a newer answer than the one that failed.
  const retriedAt = failure && now >= failure.until ? failure.until - failure.delayMs * EARLY_FRACTION : undefined;
  const aroseAt = (from: readonly RequestingPod[]): number =>
    from.reduce(
      (latest, { observedAt = 0 }) => Math.max(latest, observedAt),
      Math.max(readNeededSince, retriedAt ?? 0),
    );
  const since = pods.length > 0 ? aroseAt(pods) : (retriedAt ?? instant);
  const badVersion = failure?.requestHash === request.hash ? failure.version : undefined;
  const whole = { since, known: badVersion, force: false } as const;
  if (!isKnown(secret)) return { cause: 'absent', ...whole };
  // An immutable Secret of this request was written once and for all.
  if (secret.isImmutable && secret.isOurs) return undefined;
  if (secret.operatorAnnotations.requestHash !== request.hash) return { cause: 'request', ...whole };
  if (secret.appliedHash !== secret.ownHash) return { cause: 'drift', ...whole };
  const known = badVersion ?? secret.operatorAnnotations.version;
  if (forcedBy(serving, secret.operatorAnnotations.forced) !== secret.operatorAnnotations.forced) {
    const forcing = servedPods(serving).filter(({ pod }) => pod.forceSync !== undefined);
    return { cause: 'forced', since: aroseAt(forcing), known: undefined, force: true };
  }
  if (pods.length > 0) return { cause: 'pod', since, known, force: false };
  if (failure) return { cause: 'retry', since, known, force: false };
  const refresh = nextRefresh(situation);
  if (refresh && refresh.inMs <= 0)
    return { cause: 'refresh', since: refresh.at - refresh.periodMs * EARLY_FRACTION, known, force: false };
  return undefined;
}

/** repairDelayMs returns how long to wait before repairing something that another client may keep reverting. */
function repairDelayMs({ secret, repairs, metadataRepairs, now }: Situation, { cause }: Reason): number {
  if (cause === 'absent' || cause === 'drift') return nextRepairAt(repairs) - now;
  // Another client removes its annotations.
  return cause === 'request' && isKnown(secret) && !secret.operatorAnnotations.requestHash
    ? nextRepairAt(metadataRepairs) - now
    : 0;
}

/** hasChangedSince reports whether a request is new since the failure, or the conflicting keys were changed. */
function hasChangedSince(situation: Situation, failure: Failure): boolean {
  const { serving, secret } = situation;
  const isKeyConflict = failure.problem.reason === 'SecretConflict' && isKnown(secret);
  return (
    (isKeyConflict && secret.foreignKeys !== failure.foreignKeys) ||
    serving.lead.request.hash !== failure.requestHash ||
    forcedBy(serving, failure.forced) !== failure.forced ||
    unhandledPods(situation).some(({ pod }) => !failure.pods.has(pod.uid))
  );
}

/** NextRefresh is the next periodic read of a source. */
export interface NextRefresh {
  readonly at: number;
  readonly inMs: number;
  readonly periodMs: number;
}

/** nextRefresh returns when the source is read although nothing changed. */
export function nextRefresh({ serving, secret, readAt, now, resyncMs }: Situation): NextRefresh | undefined {
  if (isKnown(secret) && secret.isOurs && secret.isImmutable) return undefined;
  const wanted = serving.served
    .filter(({ isShuttingDown }) => !isShuttingDown)
    .map(({ request }) => request.refreshIntervalMs);
  const periodMs = Math.min(...[...wanted, resyncMs].filter((ms) => ms > 0));
  if (!Number.isFinite(periodMs)) return undefined;
  const at = (readAt ?? now) + periodMs;
  return { at, inMs: at - now, periodMs };
}

/** deletionPolicyOf combines the deletion policies of all requesters of a Secret, including those in conflict. */
export function deletionPolicyOf(requesters: readonly Requester[]): 'Retain' | 'Delete' {
  return requesters.every(({ request }) => request.deletionPolicy === 'Delete') ? 'Delete' : 'Retain';
}
