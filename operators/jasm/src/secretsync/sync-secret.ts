import { type ReconcileResult, slow, terminal } from '@bowline/runtime';
import type { SlowError, TerminalError } from '@bowline/runtime/controller';
import { ContentProblem } from '../content/content-problem.ts';
import { secretData } from '../content/secret-data.ts';
import type { ExternalSecret } from '../providers/provider.ts';
import { ProviderError } from '../providers/provider-error.ts';
import type { Source } from '../sources/source.ts';
import { batchSiblings } from './batch-siblings.ts';
import type { SecretContext } from './controller.ts';
import type { WantedMetadata } from './desired.ts';
import { recordProblem, recordSuccess } from './events.ts';
import { forcedBy } from './forced.ts';
import { countRepair } from './memory.ts';
import type { ObservedSecret } from './observed-secret.ts';
import { isKnown } from './obstacles.ts';
import { nextRefresh, type ReadStep, type Situation, unhandledPods } from './plan-secret.ts';
import type { Problem } from './problem.ts';
import { isRestartedOnChange } from './restart-served.ts';
import type { SecretView } from './secrets.ts';
import { servedPods } from './serving.ts';
import { markSecret, type Outcome, writeSecret } from './write-secret.ts';

/** SyncWork is a run for a Secret that is requested. */
export interface SyncWork {
  readonly context: SecretContext;
  readonly observed: ObservedSecret;
  readonly situation: Situation;
}

/** The maximum delay before retrying a failure that needs human intervention. */
const MAX_RETRY_DELAY_MS = 600_000;

/** The queue shortens a delay by up to a tenth; a run must not find that it is still too early. */
const QUEUE_JITTER = 0.1;

/** A run that waits for a place at a store is called back; if the callback is lost, it is requeued after this delay. */
const CALLBACK_TIMEOUT_MS = 60_000;

/**
 * readAndWrite reads the source and updates the Secret if something changed. Without a place at the store, it requeues.
 */
export async function readAndWrite(work: SyncWork, step: ReadStep, source: Source): Promise<ReconcileResult> {
  const { key, deps, enqueue } = work.context;
  const { provider } = source;
  const done = await deps.providerConcurrency.runWithSlot(
    provider,
    { key, callBack: () => enqueue(key) },
    async () => ({
      result: await deps.metrics.measure(provider, () => sync(work, step, source)),
    }),
  );
  return done ? done.result : { requeueAfterMs: CALLBACK_TIMEOUT_MS };
}

async function sync(work: SyncWork, step: ReadStep, source: Source): Promise<ReconcileResult> {
  const { context, situation } = work;
  const { failure, secret, now } = situation;
  const readResult = await readSource(work, step, source);
  context.deps.memory.of(context.key).readAt = now;
  if (!readResult.unchanged) return write(work, readResult.secret);
  if (failure && failure.version === readResult.version)
    throw permanentFailure(work, failure.problem, readResult.version);
  // A version is known only if the Secret exists.
  return isKnown(secret) ? updateMetadata(work, secret) : undefined;
}

async function readSource({ context, situation }: SyncWork, step: ReadStep, source: Source) {
  const { deps, signal } = context;
  const { since, known, force } = step;
  const batchWith = step.cause === 'absent' ? batchSiblings(context, situation.serving.lead) : [];
  try {
    return await deps.sources.read(source, { since, known, force, batchWith }, signal);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { secretName } = situation.serving.lead.request;
    const problem: Problem = { reason: 'SecretFetchFailed', message: `Secret ${secretName}: ${error.message}` };
    if (error.kind !== 'transient') throw permanentFailure({ context, situation }, problem);
    recordProblem(context, situation.serving.served, problem);
    if (error.retryAfterMs === undefined) throw error;
    // A store must not be able to delay a Secret for days.
    const minMs = Math.min(error.retryAfterMs, MAX_RETRY_DELAY_MS);
    throw slow(problem.reason, problem.message, { minMs, maxMs: MAX_RETRY_DELAY_MS });
  }
}

async function write(work: SyncWork, external: ExternalSecret): Promise<ReconcileResult> {
  const { context, observed, situation } = work;
  const data = dataOf(work, external);
  const secret = isKnown(observed.secret) ? observed.secret : undefined;
  const result = await writeSecret(context, observed, {
    ...commonMetadata(work),
    data,
    version: external.version,
    forced: forcedBy(situation.serving, secret?.operatorAnnotations.forced),
    restarts: situation.serving.served.some((requester) => isRestartedOnChange(context, requester)),
  });
  return conclude(work, result);
}

function dataOf(work: SyncWork, external: ExternalSecret) {
  const { request } = work.situation.serving.lead;
  try {
    return secretData(external, request);
  } catch (error) {
    if (!(error instanceof ContentProblem)) throw error;
    const problem = { reason: error.reason, message: `Secret ${request.secretName}: ${error.message}` };
    throw permanentFailure(work, problem, external.version);
  }
}

/** updateMetadata updates the annotations and labels of a Secret whose content is right. */
export async function updateMetadata(work: SyncWork, secret: SecretView): Promise<ReconcileResult> {
  return conclude(work, await markSecret(work.context, secret, commonMetadata(work)));
}

function commonMetadata({ context, situation: { serving, deletionPolicy } }: SyncWork): WantedMetadata {
  const { request, workload } = serving.lead;
  return { request, deletionPolicy, askedBy: workload.id, managedBy: context.deps.config.managedBy };
}

function conclude(work: SyncWork, result: Outcome | Problem): ReconcileResult {
  if (typeof result === 'object') throw permanentFailure(work, result);
  const { context, situation } = work;
  settle(work, result);
  context.deps.metrics.succeeded(context.key);
  const next = nextRefresh({ ...situation, readAt: context.deps.memory.of(context.key).readAt });
  return next && { requeueAfterMs: next.inMs };
}

/** permanentFailure returns the error of a run that needs human intervention; it is retried anyway, but not soon. */
function permanentFailure(
  { context, situation }: Pick<SyncWork, 'context' | 'situation'>,
  problem: Problem,
  version?: string,
): SlowError | TerminalError {
  const { serving, failure, secret, now } = situation;
  const { permanentErrorRequeueMs: baseMs } = context.deps.settings;
  const requestHash = serving.lead.request.hash;
  const count = failure?.requestHash === requestHash ? failure.count + 1 : 1;
  const delayMs =
    baseMs === 0 ? Number.POSITIVE_INFINITY : Math.min(baseMs * 2 ** (count - 1), Math.max(baseMs, MAX_RETRY_DELAY_MS));
  context.deps.memory.of(context.key).failure = {
    problem,
    version,
    requestHash,
    forced: forcedBy(serving),
    pods: new Set(servedPods(serving).map(({ pod }) => pod.uid)),
    foreignKeys: isKnown(secret) ? secret.foreignKeys : undefined,
    count,
    delayMs,
    until: now + delayMs * (1 - QUEUE_JITTER),
  };
  recordProblem(context, serving.served, problem);
  if (baseMs === 0) return terminal(problem.reason, problem.message);
  return slow(problem.reason, problem.message, { minMs: delayMs, maxMs: delayMs });
}

/**
 * settle records that all served workloads have what they requested, and reports it to the pods for which it is news.
 */
export function settle({ context, situation }: SyncWork, outcome: Outcome): void {
  const { deps, key } = context;
  const { serving } = situation;
  const memory = deps.memory.of(key);
  const pods = servedPods(serving);
  const isChange = outcome === 'created' || outcome === 'updated' || outcome === 'repaired';
  if (outcome === 'created' || outcome === 'repaired') memory.repairs = countRepair(memory.repairs, situation.now);
  if (outcome === 'marked') memory.metadataRepairs = countRepair(memory.metadataRepairs, situation.now);
  const unhandled = new Set(unhandledPods(situation));
  const notifiedPods = pods.filter(
    (requestingPod) => isChange || (unhandled.has(requestingPod) && !requestingPod.isInitial),
  );
  if (notifiedPods.length > 0) recordSuccess(context, serving, notifiedPods, outcome);
  memory.failure = undefined;
  memory.handledRequests.clear();
  for (const { pod } of pods) memory.handledRequests.set(pod.uid, serving.lead.request.hash);
}
