import { ConfigMap } from '@bowline/kubernetes';
import { parseDuration } from '@bowline/machinery';
import { isForbidden, type ReconcileResult, slow } from '@bowline/runtime';
import { type Content, contentOf } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import type { CopyResult } from '../copies/copy-result.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { sayWhatHappened } from './events.ts';
import { releaseUnwanted } from './release.ts';
import { type SyncFacts, statusOf } from './status.ts';
import { syncOneWay } from './sync-one-way.ts';
import { refuseCycle, refuseInvalid, targetsOf } from './targets.ts';
import type { SyncContext } from './watching.ts';

/** How soon, and at the latest how late, what could not be read or written is tried again. */
const RETRY = { minMs: 30_000, maxMs: 600_000 };

/** A source that appears is seen by watch; this is for the case that nothing else would ever notice. */
const SAFETY_REQUEUE_MS = 300_000;

/** Source is the ConfigMap that is copied, as it is now. */
export interface Source {
  readonly metadata: NonNullable<ConfigMap['metadata']>;
  readonly content: Content;
  readonly hash: string;
  readonly resourceVersion: string;
}

/** reconcile brings every copy of a ConfigMapSync to where it should be, and lets those go that are no longer wanted. */
export function reconcile(context: SyncContext): Promise<ReconcileResult> {
  return context.deps.metrics.measure(context.key, () => sync(context));
}

async function sync(context: SyncContext): Promise<ReconcileResult> {
  const { spec } = context.object;
  if (spec.paused) return pause(context);
  refuseInvalid(context);
  const targets = targetsOf(context);
  refuseCycle(context, targets);
  const source = await readSource(context);
  const results = source ? await syncOneWay(context, source, targets) : waitForSource(context, targets);
  const leftovers = await releaseUnwanted(context, { targets, isSourceGone: !source });
  return conclude(context, { source, results, leftovers });
}

function pause({ status }: SyncContext): undefined {
  status.condition('Ready', false, 'Paused', 'spec.paused is true; nothing is read or written until it is false');
  // Nothing goes on.
  status.removeCondition('Reconciling');
  return undefined;
}

/** readSource is the source with its content, from the API server: the cache keeps no values. Undefined when there is none. */
async function readSource({ object, live, status }: SyncContext): Promise<Source | undefined> {
  const { sourceNamespace: namespace, configMapName: name } = object.spec;
  const source = await live.find(ConfigMap, { namespace, name }).catch((error: unknown) => {
    if (!isForbidden(error)) throw error;
    status.condition('SourceAvailable', false, 'SourceForbidden', error.message);
    throw slow('SyncFailed', error.message, { ...RETRY, cause: error });
  });
  if (!source) {
    status.condition('SourceAvailable', false, 'SourceNotFound', `${namespace}/${name} does not exist; create it`);
    return undefined;
  }
  status.condition('SourceAvailable', true, 'SourceFound', `${namespace}/${name} exists`);
  const content = contentOf(source);
  const { metadata = {} } = source;
  return { metadata, content, hash: contentHash(content), resourceVersion: metadata.resourceVersion ?? '' };
}

/** waitForSource leaves every copy as it is. */
function waitForSource({ object, get }: SyncContext, targets: readonly Target[]): readonly CopyResult[] {
  const { sourceNamespace, configMapName } = object.spec;
  const message = `the source ${sourceNamespace}/${configMapName} does not exist; create it`;
  const obstacle = { state: 'Pending', reason: 'SourceNotFound', message } as const;
  return targets.map((target) => {
    const marks = get('copies', target)?.marks;
    return { target, deed: 'nothing', exists: marks !== undefined, hash: marks?.appliedHash, obstacle };
  });
}

/** conclude says what became of the run, and when it is looked at again. */
function conclude(context: SyncContext, facts: Omit<SyncFacts, 'attempt'>): ReconcileResult {
  const { object, status, attempt, deps, key } = context;
  const report = statusOf(object, { ...facts, attempt });
  sayWhatHappened(context, facts.results, report);
  deps.metrics.record(key, {
    counts: report.counts,
    isSourceMissing: !facts.source,
    repaired: facts.results.filter(({ deed }) => deed === 'repaired').length,
    isDone: report.isDone,
  });
  status.set(report.fields);
  for (const { type, status: value, reason, message } of report.conditions) {
    if (value === undefined) status.removeCondition(type);
    else status.condition(type, value, reason, message);
  }
  if (report.retry !== undefined) throw slow('SyncFailed', report.retry, RETRY);
  if (!facts.source) return { requeueAfterMs: SAFETY_REQUEUE_MS };
  const intervalMs = parseDuration(object.spec.syncInterval);
  return intervalMs > 0 ? { requeueAfterMs: intervalMs } : undefined;
}
