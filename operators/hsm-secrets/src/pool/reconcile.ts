import { keyString } from '@bowline/kubernetes';
import type { ReconcileResult } from '@bowline/runtime';
import type { PoolSummary } from '../metrics.ts';
import { aggregateReports, forgetRemoved } from './aggregate-reports.ts';
import { conditionsOf } from './conditions.ts';
import type { PoolContext } from './controller.ts';
import { eventsOf } from './events.ts';
import { factsOf } from './facts.ts';
import { createdAt, graceOf } from './pool-device.ts';
import { availableCount, type PoolFacts, usedDevices } from './pool-facts.ts';
import { fieldsOf } from './status.ts';

/** reconcile aggregates the reports of the discovery pods into the status of a pool. */
export async function reconcile(context: PoolContext): Promise<ReconcileResult> {
  const aggregated = await aggregateReports(context);
  const facts = factsOf(context, aggregated);
  forgetRemoved(context, aggregated);
  report(context, facts);
  return nextRun(context, facts, aggregated.aggregation.nextChangeAt);
}

function report(context: PoolContext, facts: PoolFacts): void {
  const { object, key, status, event, clock, deps } = context;
  const previous = object.status ?? {};
  const fields = fieldsOf(facts, previous, clock.now());
  if (fields) status.set(fields);
  for (const { type, status: value, reason, message } of conditionsOf(facts)) {
    if (value === undefined) status.removeCondition(type);
    else status.condition(type, value, reason, message);
  }
  for (const { type, reason, message } of eventsOf(facts, previous.aggregatedDevices ?? []))
    event(type, reason, message);
  deps.metrics.recordPool(keyString(key), metricsOf(facts));
}

function metricsOf(facts: PoolFacts): PoolSummary {
  const used = usedDevices(facts);
  const claimed = used.filter(({ health }) => health === 'Claimed').length;
  const available = availableCount(facts);
  const freshPods = facts.pods.filter(({ fresh }) => fresh).length;
  return {
    devices: {
      available,
      claimed,
      unavailable: used.length - available - claimed,
      over_limit: facts.devices.length - used.length,
    },
    freshPods,
    stalePods: facts.pods.length - freshPods,
  };
}

/** nextRun schedules the next run for when the content of the pool changes by itself. */
function nextRun(
  { object, clock }: PoolContext,
  { phase }: PoolFacts,
  nextChangeAt: number | undefined,
): ReconcileResult {
  const now = clock.now();
  // A young pool waits for its pods; after the grace period it is incomplete without them.
  const matureAt = phase === 'Aggregating' ? createdAt(object) + graceOf(object) : undefined;
  const times = [nextChangeAt, matureAt].filter((time): time is number => time !== undefined && time > now);
  return times.length === 0 ? undefined : { requeueAfterMs: Math.min(...times) - now };
}
