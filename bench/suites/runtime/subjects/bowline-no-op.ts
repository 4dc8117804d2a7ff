// The cost of a reconcile whose declared children and status already match, so that nothing is sent, compared with an empty
// reconcile in the same process and on the same objects.
import { ConfigMap, type ObjectKey } from '@bowline/kubernetes';
import { controller, defineOperator } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import { inParallel } from '../../../support/api.ts';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { Batch, childMaker } from '../batch.ts';

const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const namespace = String(input.options.namespace);
const owners = Number(input.options.owners);
const children = Number(input.options.children);
const reconciles = Number(input.options.reconciles);
const child = childMaker(children);

let declares = true;
let done = 0;
let onDone: () => void = () => {};
let enqueue: ((key: ObjectKey) => void) | undefined;

const operator = defineOperator({
  name: 'bench-no-op',
  domain: 'bowline.dev',
  resources: [Batch],
  controllers: [
    controller(Batch, { name: 'no-op', namespaces: [namespace], concurrency: 1 })
      .owns(ConfigMap)
      .reconcile(async (context) => {
        enqueue = context.enqueue;
        if (declares) {
          const { object, key, apply, status } = context;
          for (let index = 0; index < children; index += 1) {
            await apply(ConfigMap, child(index, namespace, key.name, object.spec.revision));
          }
          status.set({ children });
        }
        done += 1;
        onDone();
      }),
  ],
});

await using running = runOperator(config, operator);
const { client, metrics } = running;
await installCustomResourceDefinitions(client, [Batch]);
await running.working();
const keys = Array.from({ length: owners }, (_, index) => ({ namespace, name: `owner-${index}` }));
await inParallel(keys, 16, async (metadata) => {
  // An earlier round may have created it.
  if (await client.find(Batch, metadata)) return;
  await client.create(Batch, { metadata, spec: { children, revision: 'r1' } });
});

function requestsIn(text: string): number {
  // The Lease is renewed by PUT; nothing else here is.
  return [...text.matchAll(/^rest_client_requests_total\{(.*)\} (\d+)$/gm)]
    .filter(([, labels = '']) => !labels.includes('method="PUT"'))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}

async function requests(): Promise<number> {
  return requestsIn(await metrics.render());
}

/** pass runs every key once and returns the duration of each in microseconds. */
async function pass(declared: boolean): Promise<number> {
  declares = declared;
  const wanted = done + keys.length;
  const finished = new Promise<void>((resolve) => {
    onDone = () => {
      if (done >= wanted) resolve();
    };
  });
  const start = performance.now();
  for (const key of keys) enqueue?.(key);
  await finished;
  return ((performance.now() - start) * 1_000) / keys.length;
}

// The objects are created, their events observed and V8 is warm when a pass sends nothing, twice.
for (let quiet = 0, last = -1; quiet < 3; ) {
  await new Promise((resolve) => setTimeout(resolve, 300));
  if (enqueue !== undefined) await pass(true);
  const now = await requests();
  quiet = now === last ? quiet + 1 : 0;
  last = now;
}
await pass(false);

const before = await requests();
const times = { declared: [] as number[], empty: [] as number[] };
while (times.empty.length * keys.length < reconciles) {
  times.declared.push(await pass(true));
  times.empty.push(await pass(false));
}
const sent = (await requests()) - before;
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
report({ declaredUs: mean(times.declared), emptyUs: mean(times.empty), sent });
await untilReleased();
