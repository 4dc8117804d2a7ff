import { setTimeout as pause } from 'node:timers/promises';
import type { RunningOperator } from './run-operator.ts';

/** isBusy returns whether one of the first keys of a controller waits for a worker, or has one. */
export function isBusy({ manager }: Pick<RunningOperator, 'manager'>): boolean {
  const controllers = manager.status().flatMap((operator) => operator.controllers);
  return !controllers.every(({ state, keys }) => state === 'running' && keys.every((key) => key.state === 'delayed'));
}

/** sumOf returns the sum of all series of a metric, of those whose labels match. Defaults to all. */
export function sumOf(metrics: string, name: string, labels = /(?:)/): number {
  return [...metrics.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gm'))]
    .filter(([, found = '']) => labels.test(found))
    .reduce((total, [, , value]) => total + Number(value), 0);
}

/** waitingKeys returns the number of keys that are ready or running. */
export function waitingKeys(metrics: string): number {
  return sumOf(metrics, 'workqueue_depth') + sumOf(metrics, 'workqueue_unfinished_work_seconds');
}

const checkMs = 100;
const quietChecks = 5;

/** untilQuiet waits until an operator has had no work and sent no event for half a second. */
export async function untilQuiet(running: RunningOperator): Promise<void> {
  let quiet = 0;
  let eventsBefore = -1;
  while (quiet < quietChecks) {
    await pause(checkMs);
    // The metrics are authoritative but take some milliseconds to render.
    const metrics = isBusy(running) ? undefined : await running.metrics.render();
    const events = metrics === undefined ? -1 : sumOf(metrics, 'bowline_events_total');
    quiet = metrics !== undefined && waitingKeys(metrics) === 0 && events === eventsBefore ? quiet + 1 : 0;
    eventsBefore = events;
  }
}

/** Activity reports when an operator was busy. */
export interface Activity {
  /** lastBusyMs returns when it last had work, in milliseconds since the start of the process. */
  lastBusyMs(): number;
}

const activityCheckMs = 10;

/** watchActivity observes an operator from its start on. */
export function watchActivity(running: Pick<RunningOperator, 'manager'>): Activity {
  let lastBusyMs = performance.now();
  const timer = setInterval(() => {
    if (isBusy(running)) lastBusyMs = performance.now();
  }, activityCheckMs);
  timer.unref();
  return { lastBusyMs: () => lastBusyMs };
}
