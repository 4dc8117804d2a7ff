// One reconcile that writes many children, declared and written as a user of the runtime would: all at once. How many
// requests are in flight is the runtime's business. Reports how long the reconcile took to create them and to change them.
import { ConfigMap } from '@bowline/kubernetes';
import { controller, defineOperator, installCustomResourceDefinitions, loadKubeconfig } from '@bowline/runtime';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { Batch, batchLabel, childMaker } from '../batch.ts';

const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const children = Number(input.options.children);
const child = childMaker(children);
const key = { namespace: String(input.options.namespace), name: 'batch' };

interface Cost {
  readonly ms: number;
  /** Processor time of this process. */
  readonly cpuMs: number;
}

/** What the first reconcile of each revision cost. */
const costs = new Map<string, Cost>();
let reconciles = 0;
let lastEndMs = 0;
let wake: () => void = () => {};

async function timed(revision: string, write: (index: number) => Promise<unknown>): Promise<void> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  reconciles += 1;
  try {
    await Promise.all(Array.from({ length: children }, (_, index) => write(index)));
    const { user, system } = process.cpuUsage(cpu);
    if (!costs.has(revision)) costs.set(revision, { ms: performance.now() - start, cpuMs: (user + system) / 1_000 });
  } finally {
    reconciles -= 1;
    lastEndMs = performance.now();
    wake();
  }
}

const controllers = {
  apply: controller(Batch, { name: 'children' })
    .owns(ConfigMap)
    .applies(ConfigMap)
    .reconcile(async ({ object, key: { namespace = '', name }, apply, status }) => {
      const { revision } = object.spec;
      await timed(revision, (index) => apply(ConfigMap, child(index, namespace, name, revision)));
      status.set({ children });
    }),
  ensure: controller(Batch, { name: 'children' })
    .watches(ConfigMap, {
      labelSelector: batchLabel,
      map: ({ metadata = {} }) => [{ namespace: metadata.namespace ?? '', name: metadata.labels?.[batchLabel] ?? '' }],
    })
    .ensures(ConfigMap)
    .reconcile(async ({ object, key: { namespace = '', name }, ensure, status }) => {
      const { revision } = object.spec;
      const labels = { [batchLabel]: name };
      await timed(revision, (index) => ensure(ConfigMap, child(index, namespace, name, revision), { labels }));
      status.set({ children });
    }),
};

const operator = defineOperator({
  name: 'bench-children',
  resources: [Batch],
  controllers: [controllers[input.options.verb === 'ensure' ? 'ensure' : 'apply']],
});
await using running = runOperator(config, operator);
const { client } = running;
await installCustomResourceDefinitions(client, [Batch]);

/** Waits for the revision's reconcile, and for what the children's own events cause after it. */
async function written(revision: string): Promise<Cost> {
  while (!costs.has(revision)) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  const quietMs = 300;
  while (reconciles > 0 || performance.now() - lastEndMs < quietMs) {
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
  return costs.get(revision) ?? { ms: Number.NaN, cpuMs: Number.NaN };
}

// Started and elected, so that the reconcile begins with nothing else going on.
await running.working();
await client.create(Batch, { metadata: key, spec: { children, revision: 'r1' } });
const create = await written('r1');
await client.patch(Batch, key, { type: 'merge', body: { spec: { revision: 'r2' } } });
const update = await written('r2');
report({ createMs: create.ms, createCpuMs: create.cpuMs, updateMs: update.ms, updateCpuMs: update.cpuMs });
await untilReleased();
