import { describeResult } from '../../render.ts';
import type { BenchResult, Measure } from '../../result.ts';
import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { currentLoad, describeMachine } from '../../support/machine.ts';
import type { Peer } from '../../support/peers.ts';
import { coldSync } from './cold-sync.ts';
import { createConfigMaps, createNamespaces } from './config-maps.ts';
import { eventRate } from './event-rate.ts';
import { idleMemory } from './idle.ts';
import { latency } from './latency.ts';
import { openScene } from './open-scene.ts';
import { wholeOperator } from './operator.ts';
import { overhead } from './overhead.ts';
import { fullPlan, quickPlan } from './plan.ts';
import type { Scene } from './scene.ts';

/** The measurements in their order. */
const steps: readonly { readonly name: string; readonly run: (scene: Scene) => Promise<readonly Measure[]> }[] = [
  // First, while every kind is still small.
  { name: 'idle', run: idleMemory },
  { name: 'fill', run: fill },
  { name: 'cold-sync', run: coldSync },
  { name: 'operator', run: wholeOperator },
  { name: 'event-rate', run: eventRate },
  { name: 'latency', run: latency },
  { name: 'overhead', run: overhead },
];

const notes = [
  'Ratios hold, absolute figures depend on the machine: API server, etcd, harness and subject share its cores.',
  'Every subject runs in a fresh process of its own; the rounds of the subjects are interleaved; values are medians.',
  'Bowline and the bare loop are esbuild bundles run by Node with its default flags unless the label says otherwise.',
];

/** suite measures the controller runtime on a real control plane. */
export const suite: BenchSuite = {
  name: 'runtime',

  keeps: (flags) => flags.length === 0,

  async run({ flags, log }): Promise<BenchResult> {
    const only = readFlags(flags);
    const plan = flags.includes('--quick') ? quickPlan : fullPlan;
    const loadBefore = currentLoad();
    if (loadBefore > 0.5) log(`the machine is busy (load ${loadBefore}): times will be worth little`);
    await using scene = await openScene(plan, log);
    const measures: Measure[] = [];
    for (const step of steps) {
      if (only !== undefined && step.name !== only && step.name !== 'fill') continue;
      measures.push(...(await step.run(scene)));
    }
    return {
      format: 1,
      suite: 'runtime',
      title: 'Controller runtime',
      date: new Date().toISOString(),
      command: ['npm run bench -- runtime', ...flags].join(' '),
      machine: describeMachine(
        {
          kubernetes: scene.kubernetes,
          ...version('controller-runtime', scene.controllerRuntime),
          ...version('@kubernetes/client-node', scene.clientNode),
        },
        loadBefore,
      ),
      notes,
      measures,
    };
  },

  describe: (result) => [
    ...(result.command.includes('--quick') ? ['A shortened run: it shows that everything works, not how fast.'] : []),
    ...describeResult(result),
  ],
};

/** readFlags answers the one measurement that was asked for, if any. */
function readFlags(flags: readonly string[]): string | undefined {
  const names = steps.map(({ name }) => name);
  const unknown = flags.find((flag) => flag !== '--quick' && !names.some((name) => flag === `--only=${name}`));
  if (unknown !== undefined) {
    throw new Error(`unknown flag ${unknown}; there are --quick and --only=${names.join(', --only=')}`);
  }
  return flags.find((flag) => flag.startsWith('--only='))?.slice('--only='.length);
}

function version(name: string, peer: Peer): Readonly<Record<string, string>> {
  return 'leftOut' in peer ? {} : { [name]: peer.version };
}

/** fill creates the objects that every subject reads, spread over a few namespaces. */
async function fill(scene: Scene): Promise<readonly Measure[]> {
  const { plan, log } = scene;
  const namespaces = Array.from({ length: 8 }, (_, index) => `bench-${index}`);
  log(`creating ${plan.objects} ConfigMaps`);
  await using api = new Api(scene.connection);
  await createNamespaces(api, namespaces);
  await createConfigMaps(api, plan.objects, namespaces);
  return [];
}
