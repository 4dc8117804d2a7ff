import { planContent } from '@bowline/runtime/writing';
import type { Asker, AskingPod } from '../pods/askers.ts';
import { desiredMarks } from './desired.ts';
import { forcedBy } from './forced.ts';
import { type Failure, type Pursuit, type Repairs, repairableAt } from './memory.ts';
import { isThere, obstacleTo, type Seen } from './obstacles.ts';
import type { Problem } from './problem.ts';
import { claimOn, type SecretView, secrets } from './secrets.ts';
import { type Serving, servedPods } from './serving.ts';

/** Situation holds everything that decides what to do about a requested Secret. Times are monotonic. */
export interface Situation {
  readonly serving: Serving;
  readonly secret: Seen;
  /** Whether the lead is permitted to read what it requests. */
  readonly isPermitted: boolean;
  /** Whether the provider can return a version without the value. */
  readonly tellsVersions: boolean;
  /** The deletion policy to record: `Delete` if every requester sets it. */
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** The hash of the request that was last answered for a pod. */
  readonly answeredFor: (pod: AskingPod) => string | undefined;
  /** The instant after which the reason to read for the lead's request arose; see `pursuedSince`. */
  readonly pursuedSince: number;
  readonly readAt: number | undefined;
  readonly failure: Failure | undefined;
  readonly repairs: Repairs;
  readonly markings: Repairs;
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
const EARLY = 0.1;

/** planSecret decides the next action on a Secret. The first matching rule counts. */
export function planSecret(situation: Situation): SecretStep {
  const { serving, secret, isPermitted, deletionPolicy, failure, now } = situation;
  const { lead } = serving;
  const { request } = lead;
  // Pods that are being deleted get nothing new, and keep what they have.
  if (lead.isLeaving || !isPermitted) return AT_REST;
  if (isThere(secret) && (secret.isPaused || secret.isTerminating)) return AT_REST;
  const obstacle = obstacleTo(request, secret);
  if (obstacle) return { step: 'stop', problem: obstacle };
  const reason = reasonToRead(situation);
  if (reason) {
    if (failure && now < failure.until && !isNews(situation, failure)) {
      return { step: 'stop', problem: failure.problem, againInMs: failure.until - now };
    }
    const waitMs = patienceMs(situation, reason);
    return waitMs > 0 ? { ...AT_REST, againInMs: waitMs } : { step: 'read', ...reason };
  }
  if (isThere(secret) && !saysWhatItShould(secret, { request, deletionPolicy })) {
    const againInMs = repairableAt(situation.markings) - now;
    return againInMs > 0 ? { step: 'rest', isServed: true, againInMs } : { step: 'mark', secret };
  }
  return { step: 'rest', isServed: true, againInMs: nextLook(situation)?.inMs };
}

function saysWhatItShould(
  secret: SecretView,
  wanted: Pick<Situation, 'deletionPolicy'> & Pick<Asker, 'request'>,
): boolean {
  const desired = desiredMarks(secret, { ...wanted, askedBy: '', managedBy: '' });
  return planContent(secrets, secret, desired, { claim: claimOn }).step === 'keep';
}

/** pursuitOf returns the Pursuit of a run that takes a step. */
export function pursuitOf({ serving, pursuedSince: since, instant: at }: Situation, step: SecretStep): Pursuit {
  const isPursued = step.step === 'read' || (step.step === 'stop' && step.againInMs !== undefined);
  return { requestHash: isPursued ? serving.lead.request.hash : undefined, since, at };
}

/** unansweredPods returns the served pods for which nothing was read yet. */
export function unansweredPods(situation: Situation): readonly AskingPod[] {
  const { serving, secret, tellsVersions } = situation;
  return servedPods(serving).filter((asking) => {
    if (situation.answeredFor(asking) === serving.lead.request.hash) return false;
    if (!asking.isInitial || !isThere(secret)) return true;
    return (tellsVersions && secret.marks.version !== undefined) || !isOlderThan(asking, secret);
  });
}

/**
 * If versions cannot be compared, only reading the value would help: after a restart, pods that are older than the
 * content are assumed to have received it.
 */
function isOlderThan({ pod }: AskingPod, { writtenAt }: SecretView): boolean {
  return pod.createdAt <= Date.parse(writtenAt ?? '');
}

type Reason = Omit<ReadStep, 'step'>;

function reasonToRead(situation: Situation): Reason | undefined {
  const { serving, secret, failure, now, instant, pursuedSince } = situation;
  const { request } = serving.lead;
  const pods = unansweredPods(situation);
  // A retry needs a newer answer than the one that failed.
  const retriedAt = failure && now >= failure.until ? failure.until - failure.delayMs * EARLY : undefined;
  const arisenAt = (from: readonly AskingPod[]): number =>
    from.reduce((latest, { noticedAt = 0 }) => Math.max(latest, noticedAt), Math.max(pursuedSince, retriedAt ?? 0));
  const since = pods.length > 0 ? arisenAt(pods) : (retriedAt ?? instant);
  const badVersion = failure?.requestHash === request.hash ? failure.version : undefined;
  const whole = { since, known: badVersion, force: false } as const;
  if (!isThere(secret)) return { cause: 'absent', ...whole };
  // An immutable Secret of this request was written once and for all.
  if (secret.isImmutable && secret.isOurs) return undefined;
  if (secret.marks.requestHash !== request.hash) return { cause: 'request', ...whole };
  if (secret.appliedHash !== secret.ownHash) return { cause: 'drift', ...whole };
  const known = badVersion ?? secret.marks.version;
  if (forcedBy(serving, secret.marks.forced) !== secret.marks.forced) {
    const forcing = servedPods(serving).filter(({ pod }) => pod.forceSync !== undefined);
    return { cause: 'forced', since: arisenAt(forcing), known: undefined, force: true };
  }
  if (pods.length > 0) return { cause: 'pod', since, known, force: false };
  if (failure) return { cause: 'retry', since, known, force: false };
  const look = nextLook(situation);
  if (look && look.inMs <= 0) return { cause: 'refresh', since: look.at - look.periodMs * EARLY, known, force: false };
  return undefined;
}

/** patienceMs returns how long to wait before repairing something that another client may keep reverting. */
function patienceMs({ secret, repairs, markings, now }: Situation, { cause }: Reason): number {
  if (cause === 'absent' || cause === 'drift') return repairableAt(repairs) - now;
  // Another client removes its annotations.
  return cause === 'request' && isThere(secret) && !secret.marks.requestHash ? repairableAt(markings) - now : 0;
}

/** isNews reports whether a request is new since the failure, or the conflicting keys were changed. */
function isNews(situation: Situation, failure: Failure): boolean {
  const { serving, secret } = situation;
  const isInTheWay = failure.problem.reason === 'SecretConflict' && isThere(secret);
  return (
    (isInTheWay && secret.foreignKeys !== failure.foreignKeys) ||
    serving.lead.request.hash !== failure.requestHash ||
    forcedBy(serving, failure.forced) !== failure.forced ||
    unansweredPods(situation).some(({ pod }) => !failure.pods.has(pod.uid))
  );
}

/** NextLook is the next periodic read of a source. */
export interface NextLook {
  readonly at: number;
  readonly inMs: number;
  readonly periodMs: number;
}

/** nextLook returns when the source is read although nothing changed. */
export function nextLook({ serving, secret, readAt, now, resyncMs }: Situation): NextLook | undefined {
  if (isThere(secret) && secret.isOurs && secret.isImmutable) return undefined;
  const wanted = serving.served.filter(({ isLeaving }) => !isLeaving).map(({ request }) => request.refreshIntervalMs);
  const periodMs = Math.min(...[...wanted, resyncMs].filter((ms) => ms > 0));
  if (!Number.isFinite(periodMs)) return undefined;
  const at = (readAt ?? now) + periodMs;
  return { at, inMs: at - now, periodMs };
}

/** deletionPolicyOf combines the deletion policies of all requesters of a Secret, including those in conflict. */
export function deletionPolicyOf(askers: readonly Asker[]): 'Retain' | 'Delete' {
  return askers.every(({ request }) => request.deletionPolicy === 'Delete') ? 'Delete' : 'Retain';
}
