// One reconcile that writes many children, declared and written as by a user of the runtime: all at once. The runtime decides how
// many requests are in flight. Reports how long the reconcile took to create and to change them, for a first owner and for
// another one after the process has done it before.
import { ConfigMap } from '@bowline/kubernetes';
import { controller, defineOperator, managedContent } from '@bowline/runtime';
import { loadKubeconfig } from '@bowline/runtime/client';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import { runOperator } from '../../../support/run-operator.ts';
import { report, subjectInput, untilReleased } from '../../../support/subject.ts';
import { Batch, batchLabel, childMaker } from '../batch.ts';

const input = subjectInput();
const config = await loadKubeconfig({ paths: [input.kubeconfig] });
const children = Number(input.options.children);
const child = childMaker(children);
const namespace = String(input.options.namespace);

interface Cost {
  readonly ms: number;
  /** Processor time of this process. */
  readonly cpuMs: number;
}

/** The cost of the first reconcile of each owner and revision. */
const costs = new Map<string, Cost>();
let reconciles = 0;
let lastEndMs = 0;
let wake: () => void = () => {};

async function timed(what: string, write: (index: number) => Promise<unknown>): Promise<void> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  reconciles += 1;
  try {
    await Promise.all(Array.from({ length: children }, (_, index) => write(index)));
    const { user, system } = process.cpuUsage(cpu);
    if (!costs.has(what)) costs.set(what, { ms: performance.now() - start, cpuMs: (user + system) / 1_000 });
  } finally {
    reconciles -= 1;
    lastEndMs = performance.now();
    wake();
  }
}

const texts = managedContent({
  resource: ConfigMap,
  maps: ['data'],
  managers: ['bench-children'],
  annotations: { hash: `${batchLabel}-hash`, time: `${batchLabel}-time`, keys: `${batchLabel}-keys` },
  operatorAnnotations: {},
});

const controllers = {
  apply: controller(Batch, { name: 'children' })
    .owns(ConfigMap)
    .reconcile(async ({ object, key: { name }, apply, status }) => {
      const { revision } = object.spec;
      await timed(`${name} ${revision}`, (index) => apply(ConfigMap, child(index, namespace, name, revision)));
      status.set({ children });
    }),
  ensure: controller(Batch, { name: 'children' })
    .watches(ConfigMap, {
      labelSelector: batchLabel,
      view: texts.view,
      map: ({ namespace, labels }) => [{ namespace, name: labels[batchLabel] ?? '' }],
    })
    .ensures(ConfigMap)
    .reconcile(async ({ object, key: { name }, ensure, status }) => {
      const { revision } = object.spec;
      await timed(`${name} ${revision}`, (index) => {
        const { metadata, data = {} } = child(index, namespace, name, revision);
        const key = { namespace, name: metadata?.name ?? '' };
        return ensure(
          texts,
          key,
          texts.desired({ content: { data }, labels: metadata?.labels, operatorAnnotations: {} }),
          {
            claim: ({ labels }) => (labels[batchLabel] === name ? 'ours' : 'foreign'),
          },
        );
      });
      status.set({ children });
    }),
};

const operator = defineOperator({
  name: 'bench-children',
  domain: 'bowline.dev',
  resources: [Batch],
  controllers: [controllers[input.options.verb === 'ensure' ? 'ensure' : 'apply']],
});
await using running = runOperator(config, operator);
const { client } = running;
await installCustomResourceDefinitions(client, [Batch]);

/** written waits for that reconcile, and for the effects of the children's own events. */
async function written(what: string): Promise<Cost> {
  while (!costs.has(what)) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  const quietMs = 300;
  while (reconciles > 0 || performance.now() - lastEndMs < quietMs) {
    await new Promise((resolve) => setTimeout(resolve, quietMs));
  }
  return costs.get(what) ?? { ms: Number.NaN, cpuMs: Number.NaN };
}

async function writeBoth(name: string): Promise<Readonly<Record<string, number>>> {
  await client.create(Batch, { metadata: { namespace, name }, spec: { children, revision: 'r1' } });
  const create = await written(`${name} r1`);
  await client.patch(Batch, { namespace, name }, { type: 'merge', body: { spec: { revision: 'r2' } } });
  const update = await written(`${name} r2`);
  return { createMs: create.ms, createCpuMs: create.cpuMs, updateMs: update.ms, updateCpuMs: update.cpuMs };
}

// Started and elected, so that nothing else runs when the reconcile starts.
await running.working();
report(await writeBoth('first'));
report(await writeBoth('again'));
await untilReleased();
