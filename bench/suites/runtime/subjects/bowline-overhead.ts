// The runtime's own cost per reconcile: keys of cached objects are queued all at once, and the reconcile only uses its logger,
// which creates the log context. No request is sent meanwhile.
import { ConfigMap, type ObjectKey } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';

const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const objects = Number(input.options.objects);
const reconciles = Number(input.options.reconciles);

const keys: ObjectKey[] = [];
let enqueue: ((key: ObjectKey) => void) | undefined;
let done = 0;
let wanted = Number.POSITIVE_INFINITY;
let onDone: () => void = () => {};

const operator = defineOperator({
  name: 'bench-overhead',
  domain: 'bowline.dev',
  controllers: [
    controller(ConfigMap, { name: 'overhead' }).reconcile((context) => {
      if (enqueue === undefined || keys.length < objects) {
        enqueue = context.enqueue;
        keys.push(context.key);
      }
      context.log.debug('nothing to do');
      done += 1;
      if (done >= wanted) onDone();
    }),
  ],
});

function reached(count: number): Promise<void> {
  wanted = count;
  return new Promise((resolve) => {
    onDone = resolve;
    if (done >= wanted) resolve();
  });
}

await using _running = runOperator(config, operator);
await reached(objects);

/** pass runs every key once and returns the duration of each, from the first enqueue on. */
async function pass(): Promise<number> {
  const before = done;
  const start = performance.now();
  for (const key of keys) enqueue?.(key);
  await reached(before + keys.length);
  return ((performance.now() - start) * 1_000) / keys.length;
}

// The first pass warms up V8.
await pass();
const passes: number[] = [];
while (passes.length * keys.length < reconciles) passes.push(await pass());
report({ reconcileUs: passes.reduce((sum, each) => sum + each, 0) / passes.length });
await untilReleased();
