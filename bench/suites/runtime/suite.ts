import type { Measure } from '../../result.ts';
import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { createConfigMaps, createNamespaces } from '../../support/config-maps.ts';
import { defineSuite } from '../../support/define-suite.ts';
import { clientNodePeer, controllerRuntimePeer } from '../../support/peers.ts';
import { type OpenedScene, openScene } from '../../support/scene.ts';
import { children } from './children.ts';
import { coldSync } from './cold-sync.ts';
import { eventRate } from './event-rate.ts';
import { idleMemory } from './idle.ts';
import { latency } from './latency.ts';
import { noOp } from './no-op.ts';
import { wholeOperator } from './operator.ts';
import { overhead } from './overhead.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import type { RuntimeScene } from './scene.ts';
import { subjects } from './subjects.ts';
import { webhook } from './webhook.ts';

/** suite measures the controller runtime on a real control plane. */
export const suite: BenchSuite = defineSuite<OpenedScene & RuntimeScene, Plan>({
  name: 'runtime',
  title: 'Controller runtime',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    // First, while every kind is still small.
    { name: 'idle', run: idleMemory },
    { name: 'children', run: children },
    { name: 'no-op', run: noOp },
    { name: 'webhook', run: webhook },
    { name: 'fill', run: fill },
    { name: 'cold-sync', needs: ['fill'], run: coldSync },
    { name: 'operator', needs: ['fill'], run: wholeOperator },
    { name: 'event-rate', needs: ['fill'], run: eventRate },
    { name: 'latency', needs: ['fill'], run: latency },
    { name: 'overhead', needs: ['fill'], run: overhead },
  ],
  async open(plan, log) {
    const controllerRuntime = await controllerRuntimePeer(log);
    const clientNode = await clientNodePeer(log);
    return { ...(await openScene(subjects, log)), plan, controllerRuntime, clientNode };
  },
  peers: ({ controllerRuntime, clientNode }) => ({
    'controller-runtime': controllerRuntime,
    '@kubernetes/client-node': clientNode,
  }),
  notes: () => [
    'Ratios hold, absolute figures depend on the machine: API server, etcd, harness and subject share its cores.',
    'Every subject runs in its own fresh process; the rounds of the subjects are interleaved; values are medians.',
    'Bowline and the bare loop are esbuild bundles run by Node with its default flags unless the label says otherwise.',
  ],
});

/** fill creates the objects that every subject reads, spread over a few namespaces. */
async function fill(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { plan, log } = scene;
  const namespaces = Array.from({ length: 8 }, (_, index) => `bench-${index}`);
  log(`creating ${plan.objects} ConfigMaps`);
  await using api = new Api(scene.connection);
  await createNamespaces(api, namespaces);
  await createConfigMaps(api, plan.objects, namespaces);
  return [];
}
