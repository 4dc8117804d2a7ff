import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { defineSuite } from '../../support/define-suite.ts';
import { controllerRuntimePeer } from '../../support/peers.ts';
import { type OpenedScene, openScene } from '../../support/scene.ts';
import { edits } from './edits.ts';
import { fanOut } from './fan-out.ts';
import { growth } from './growth.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { prepare } from './prepare.ts';
import { inFlight, type SyncScene } from './scene.ts';

/** URLs, so that tools that move files find this list. */
const subjects = [
  new URL('./subjects/bowline-configmap-sync.ts', import.meta.url),
  new URL('../../support/subjects/raw-writes.ts', import.meta.url),
];

/** suite measures the operator ConfigMapSync on a real control plane. */
export const suite: BenchSuite = defineSuite<OpenedScene & SyncScene, Plan>({
  name: 'configmap-sync',
  title: 'ConfigMapSync',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    { name: 'prepare', run: prepare },
    { name: 'fan-out', needs: ['prepare'], run: fanOut },
    { name: 'edits', needs: ['prepare'], run: edits },
    { name: 'growth', needs: ['prepare'], run: growth },
  ],
  async open(plan, log) {
    const controllerRuntime = await controllerRuntimePeer(log);
    const scene = await openScene(subjects, log);
    const api = new Api(scene.connection);
    return {
      ...scene,
      plan,
      api,
      controllerRuntime,
      known: { copyBytes: {} },
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await scene[Symbol.asyncDispose]();
      },
    };
  },
  peers: ({ controllerRuntime }) => ({ 'controller-runtime': controllerRuntime }),
  notes,
});

function notes({ plan, known }: SyncScene): readonly string[] {
  const sizes = Object.entries(known.copyBytes).map(([id, bytes]) => `${bytes} bytes (${id})`);
  return [
    'Ratios hold, absolute figures depend on the machine: API server, etcd, harness and subject share its cores.',
    'Every operator runs in its own fresh process; the rounds of the subjects are interleaved; values are medians.',
    `Times of operators count from the request for the change until a bare watch of the harness has observed the last copy; those of the bare loop from its first request to its last response, with ${inFlight} in flight, bodies prepared beforehand, and objects as large as Bowline's copies.`,
    `A copy as stored, managedFields not counted: ${sizes.join(', ')}.`,
    `The peer has ${inFlight} writes in flight too, no client rate limit (like Bowline; both rely on the API server's priority and fairness), and its manager's default cache, which holds every ConfigMap; it sets no finalizer, sends no events and serves no webhook, all of which Bowline does here.`,
    `In addition to the unrelated ConfigMaps, every namespace has one with the cluster's root certificate: ${plan.copies.toLocaleString('en-US')} of them, in growth ${Math.max(...plan.growth).toLocaleString('en-US')}, also where the row says none.`,
  ];
}
