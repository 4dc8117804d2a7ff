import { parseDuration } from '@bowline/machinery';
import { type ReconcileResult, slow } from '@bowline/runtime';
import { REQUESTS } from '../api/names.ts';
import type { CopyResult } from '../copies/copy-result.ts';
import type { Target } from '../targets/resolve-targets.ts';
import { isAuthorized, refuseUnreviewed } from './authorize.ts';
import { breakCycle } from './break-cycle.ts';
import { recordEvents } from './events.ts';
import { releaseUnwanted } from './release.ts';
import { readSource, type Source, setSourceCondition, waitForSource } from './source.ts';
import { type SyncFacts, statusOf } from './status.ts';
import { syncBothWays } from './sync-both-ways.ts';
import type { SyncContext } from './sync-controller.ts';
import { syncOneWay } from './sync-one-way.ts';
import { refuseInvalid, targetsOf } from './targets.ts';

/** How long an account is assumed to lack the rights that it needs: as long as answers are cached. */
const REVIEW_INTERVAL_MS = 30_000;

/** A source that appears is observed by the watch; this covers the case that nothing else would ever notice it. */
const SOURCE_CHECK_INTERVAL_MS = 300_000;

/** The first and the longest delay before copies that could not be written are retried. */
const RETRY = { minMs: 30_000, maxMs: 600_000 };

/**
 * reconcile brings every copy of a ConfigMapSync to its desired state, and releases those that are no longer wanted.
 */
export function reconcile(context: SyncContext): Promise<ReconcileResult> {
  return context.deps.metrics.measure(context.key, () => sync(context));
}

async function sync(context: SyncContext): Promise<ReconcileResult> {
  if (context.object.spec.paused) return pause(context);
  refuseUnreviewed(context);
  refuseInvalid(context);
  const wanted = targetsOf(context);
  // This comes first: an account that may not write must not learn about other ConfigMapSyncs either.
  if (!(await isAuthorized(context, wanted))) return { requeueAfterMs: REVIEW_INTERVAL_MS };
  const targets = await breakCycle(context, wanted);
  const { source, results } = await syncTargets(context, await readSource(context), targets);
  const leftovers = await releaseUnwanted(context, { targets, isSourceMissing: !source });
  return conclude(context, { source, results, leftovers });
}

function pause({ status }: SyncContext): undefined {
  status.condition('Ready', false, 'Paused', 'spec.paused is true; set it to false to resume');
  // Nothing is in progress.
  status.removeCondition('Reconciling');
  return undefined;
}

/** syncTargets brings the copies to their desired state; in a two-way sync, the source too. */
async function syncTargets(
  context: SyncContext,
  source: Source | undefined,
  targets: readonly Target[],
): Promise<{ readonly source: Source | undefined; readonly results: readonly CopyResult[] }> {
  if (context.object.spec.direction === 'Bidirectional') return syncBothWays(context, source, targets);
  return { source, results: source ? await syncOneWay(context, source, targets) : waitForSource(context, targets) };
}

/** conclude reports the result of the run, and schedules the next one in case nothing changes. */
function conclude(context: SyncContext, facts: Omit<SyncFacts, 'attempt'>): ReconcileResult {
  const { object, status, attempt, deps, key } = context;
  const report = statusOf(object, { ...facts, attempt });
  setSourceCondition(context, facts.source !== undefined);
  recordEvents(context, facts.results, report);
  status.set(report.fields);
  for (const { type, status: value, reason, message } of report.conditions) {
    if (value === undefined) status.removeCondition(type);
    else status.condition(type, value, reason, message);
  }
  deps.metrics.record(key, {
    counts: report.counts,
    isSourceMissing: !facts.source,
    repaired: facts.results.filter(({ outcome }) => outcome === 'repaired').length,
    isDone: report.isDone,
  });
  // A forced sync is done once at least one copy is as desired. If it were only done when all are, later edits would be
  // lost; without a source, or content for copies, nothing is done yet.
  if (facts.results.some(({ obstacle }) => !obstacle)) {
    status.set({ lastHandledForceSync: object.metadata?.annotations?.[REQUESTS.forceSync] });
  }
  if (report.retry !== undefined) throw slow('SyncFailed', report.retry, RETRY);
  if (!facts.source) return { requeueAfterMs: SOURCE_CHECK_INTERVAL_MS };
  const intervalMs = parseDuration(object.spec.syncInterval);
  return intervalMs > 0 ? { requeueAfterMs: intervalMs } : undefined;
}
