import { planContent } from '@bowline/runtime/writing';
import type { Asker, AskingPod } from '../pods/askers.ts';
import { desiredMarks } from './desired.ts';
import { forcedBy } from './forced.ts';
import { type Failure, type Pursuit, type Repairs, repairableAt } from './memory.ts';
import { isThere, obstacleTo, type Seen } from './obstacles.ts';
import type { Problem } from './problem.ts';
import { claimOn, type SecretView, secrets } from './secrets.ts';
import { type Serving, servedPods } from './serving.ts';

/** Situation is all that decides what is done about a Secret that somebody asks for. Times are monotonic. */
export interface Situation {
  readonly serving: Serving;
  readonly secret: Seen;
  /** Whether the lead may have what it asks for. */
  readonly isPermitted: boolean;
  /** Whether the provider can be asked for a version alone. */
  readonly tellsVersions: boolean;
  /** What is recorded as the deletion policy: `Delete` when every asker says so. */
  readonly deletionPolicy: 'Retain' | 'Delete';
  /** The hash of the request for which a pod was answered. */
  readonly answeredFor: (pod: AskingPod) => string | undefined;
  /** The instant after which the reason to read for the lead's request arose; see `pursuedSince`. */
  readonly pursuedSince: number;
  readonly readAt: number | undefined;
  readonly failure: Failure | undefined;
  readonly repairs: Repairs;
  readonly markings: Repairs;
  readonly now: number;
  /** The instant of this run, later than all before it; see `orderedClock`. Those of pods are of the same clock. */
  readonly instant: number;
  /** How often a source is looked at without another reason. 0: never. */
  readonly resyncMs: number;
}

/** Why a source is read. */
export type ReadCause = 'absent' | 'request' | 'drift' | 'pod' | 'forced' | 'refresh' | 'retry';

/** SecretStep is what is done about a Secret. */
export type SecretStep =
  /** Nothing, or nothing before a while has passed. Whether it is because all who are served have what they asked for. */
  | { readonly step: 'rest'; readonly isServed: boolean; readonly againInMs?: number | undefined }
  /** Somebody has to do something; `againInMs` is when it is tried again all the same. */
  | { readonly step: 'stop'; readonly problem: Problem; readonly againInMs?: number | undefined }
  /** It holds what it should, and does not say so. */
  | { readonly step: 'mark'; readonly secret: SecretView }
  | ReadStep;

/** ReadStep is that the source is read, and the Secret written if that is news; see `ReadReason`. */
export interface ReadStep {
  readonly step: 'read';
  readonly cause: ReadCause;
  readonly since: number;
  readonly known: string | undefined;
  readonly force: boolean;
}

const AT_REST = { step: 'rest', isServed: false } as const;

/** A regular look may be this much of its period early: then Secrets of one source share it. */
const EARLY = 0.1;

/** planSecret decides what is done about a Secret. The first rule that fits counts. */
export function planSecret(situation: Situation): SecretStep {
  const { serving, secret, isPermitted, deletionPolicy, failure, now } = situation;
  const { lead } = serving;
  const { request } = lead;
  // Pods that are being deleted get nothing new, and what they have is not taken away.
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

/** pursuitOf is what a run that does this is about. */
export function pursuitOf({ serving, pursuedSince: since, instant: at }: Situation, step: SecretStep): Pursuit {
  const isPursued = step.step === 'read' || (step.step === 'stop' && step.againInMs !== undefined);
  return { requestHash: isPursued ? serving.lead.request.hash : undefined, since, at };
}

/** unansweredPods are the served pods that nothing was read for yet. */
export function unansweredPods(situation: Situation): readonly AskingPod[] {
  const { serving, secret, tellsVersions } = situation;
  return servedPods(serving).filter((asking) => {
    if (situation.answeredFor(asking) === serving.lead.request.hash) return false;
    if (!asking.isInitial || !isThere(secret)) return true;
    return (tellsVersions && secret.marks.version !== undefined) || !isOlderThan(asking, secret);
  });
}

/**
 * Where no version can be compared there is nothing to ask for but the value: after a restart, pods that are older than the
 * content are taken to have got it.
 */
function isOlderThan({ pod }: AskingPod, { writtenAt }: SecretView): boolean {
  return pod.createdAt <= Date.parse(writtenAt ?? '');
}

type Reason = Omit<ReadStep, 'step'>;

function reasonToRead(situation: Situation): Reason | undefined {
  const { serving, secret, failure, now, instant, pursuedSince } = situation;
  const { request } = serving.lead;
  const pods = unansweredPods(situation);
  // What is tried again wants a newer answer than the one that was the problem.
  const retriedAt = failure && now >= failure.until ? failure.until - failure.delayMs * EARLY : undefined;
  const arisenAt = (from: readonly AskingPod[]): number =>
    from.reduce((latest, { noticedAt = 0 }) => Math.max(latest, noticedAt), Math.max(pursuedSince, retriedAt ?? 0));
  const since = pods.length > 0 ? arisenAt(pods) : (retriedAt ?? instant);
  const badVersion = failure?.requestHash === request.hash ? failure.version : undefined;
  const whole = { since, known: badVersion, force: false } as const;
  if (!isThere(secret)) return { cause: 'absent', ...whole };
  // What is there stays: an immutable Secret of this request was written once and for all.
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

/** patienceMs is how long something that others may undo again and again is left as it is. */
function patienceMs({ secret, repairs, markings, now }: Situation, { cause }: Reason): number {
  if (cause === 'absent' || cause === 'drift') return repairableAt(repairs) - now;
  // Somebody takes away what it says about itself.
  return cause === 'request' && isThere(secret) && !secret.marks.requestHash ? repairableAt(markings) - now : 0;
}

/** isNews is whether anything is asked that was not asked when it failed, or others have taken away what was in the way. */
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

/** NextLook is a look at a source that falls due. */
export interface NextLook {
  readonly at: number;
  readonly inMs: number;
  readonly periodMs: number;
}

/** nextLook is when the source is looked at although nothing happened. */
export function nextLook({ serving, secret, readAt, now, resyncMs }: Situation): NextLook | undefined {
  if (isThere(secret) && secret.isOurs && secret.isImmutable) return undefined;
  const wanted = serving.served.filter(({ isLeaving }) => !isLeaving).map(({ request }) => request.refreshIntervalMs);
  const periodMs = Math.min(...[...wanted, resyncMs].filter((ms) => ms > 0));
  if (!Number.isFinite(periodMs)) return undefined;
  const at = (readAt ?? now) + periodMs;
  return { at, inMs: at - now, periodMs };
}

/** deletionPolicyOf is what the askers of a Secret want together, those in conflict included. */
export function deletionPolicyOf(askers: readonly Asker[]): 'Retain' | 'Delete' {
  return askers.every(({ request }) => request.deletionPolicy === 'Delete') ? 'Delete' : 'Retain';
}
