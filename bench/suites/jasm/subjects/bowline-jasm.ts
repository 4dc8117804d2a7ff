// The operator in a separate process, set up as by `bowline run`. On `run` it starts; on `settle N M` it reports once N Secrets
// were synced, M events have been sent and no work is left.
import { setTimeout as pause } from 'node:timers/promises';
import { jasm } from '@bowline/jasm';
import { loadKubeconfig } from '@bowline/runtime/client';
import { preferSmallHeap } from '@bowline/runtime/manager';
import { isBusy, sumOf, waitingKeys } from '../../../support/operator-activity.ts';
import { runOperator } from '../../../support/run-operator.ts';
import { orders, report, subjectInput } from '../../../support/subject.ts';

preferSmallHeap();
const input = subjectInput();
// Where the provider looks for credentials.
Object.assign(process.env, JSON.parse(String(input.options.environment)));
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const section: unknown = JSON.parse(String(input.options.config));

report({ ready: true });
const commands = orders()[Symbol.asyncIterator]();
await commands.next();
const startedAt = performance.now();
await using running = runOperator(config, jasm, { config: { jasm: section } });

for (let order = await commands.next(); order.done !== true; order = await commands.next()) {
  const [, syncs = 0, events = 0] = order.value.split(' ').map(Number);
  for (;;) {
    // The metrics are authoritative but take some milliseconds of the measured time to render.
    const counted = isBusy(running) ? undefined : await counts();
    if (counted?.waiting === 0 && counted.syncs >= syncs && counted.events >= events) {
      report({ ms: performance.now() - startedAt, ...counted });
      break;
    }
    await pause(counted === undefined ? 10 : 100);
  }
}

interface Counts {
  /** Keys that are ready or running. */
  readonly waiting: number;
  readonly syncs: number;
  /** Events so far, including dropped ones. */
  readonly events: number;
  readonly dropped: number;
}

async function counts(): Promise<Counts> {
  const text = await running.metrics.render();
  return {
    waiting: waitingKeys(text),
    syncs: sumOf(text, 'jasm_sync_total', /result="success"/),
    events: sumOf(text, 'bowline_events_total'),
    dropped: sumOf(text, 'bowline_events_total', /result="(?:limited|overflow|failed)"/),
  };
}
