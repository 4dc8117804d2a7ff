import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { defineSuite } from '../../support/define-suite.ts';
import { openScene } from '../../support/scene.ts';
import { heartbeats } from './heartbeats.ts';
import { idle } from './idle.ts';
import { memory } from './memory.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { prepare } from './prepare.ts';
import { reads } from './reads.ts';
import { reports } from './reports.ts';
import { restart } from './restart.ts';
import { type HsmScene, inFlight } from './scene.ts';
import { secrets } from './secrets.ts';
import { subjects } from './subjects.ts';

/** suite measures the operator HSM secrets on a real control plane, and the processes on nodes that belong to it. */
export const suite: BenchSuite = defineSuite<HsmScene, Plan>({
  name: 'hsm',
  title: 'HSM secrets',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    { name: 'prepare', run: prepare },
    { name: 'reports', needs: ['prepare'], run: reports },
    { name: 'heartbeats', needs: ['prepare'], run: heartbeats },
    { name: 'secrets', needs: ['prepare'], run: secrets },
    { name: 'restart', needs: ['prepare'], run: restart },
    { name: 'reads', run: reads },
    { name: 'idle', needs: ['prepare'], run: idle },
    // Last: the unrelated pods stay.
    { name: 'memory', needs: ['prepare'], run: memory },
  ],
  async open(plan, log) {
    // The harness takes the part of the controllers of workloads and of kubelet, so that nothing else writes to the cluster.
    const scene = await openScene(subjects, log, { workloads: false });
    const api = new Api(scene.connection);
    return {
      ...scene,
      plan,
      api,
      known: { pods: 0, haveReports: true },
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await scene[Symbol.asyncDispose]();
      },
    };
  },
  peers: () => ({}),
  notes,
});

function notes({ known }: HsmScene): readonly string[] {
  return [
    'Ratios hold, absolute figures depend on the machine: API server, etcd, agent, harness and subject share its cores.',
    'The operator runs in its own fresh process, with only the permissions that it declares, its admission policies and leader election; values are medians.',
    `Neither a scheduler nor controllers of workloads nor kubelets run: the harness creates the pods of the DaemonSets and Deployments and sets their status. A discovery pod has ${known.podBytes ?? 0} bytes as sent by the server, managedFields not counted, and reports one device; pods beyond the limit of 1,024 devices report none.`,
    `Reports are patches of the harness, ${inFlight} in flight, with bodies prepared beforehand. The time until the pool shows all counts from the first request until a bare watch of the harness has observed it; that of the bare loop until its last response.`,
    'Processor times of heartbeats are those of the operator and of the bare watch for the same events at the same time, with the same settings of V8, after 1,000 uncounted heartbeats.',
    `HSMSecrets are read from the server of an agent in its own process, through mutual TLS, with a software token. It counts the calls. A Secret has ${known.secretBytes ?? 0} bytes as written. The raw creates are those of the bare loop.`,
    'The reads from SoftHSM2 pass the command `bowline hsm-secrets agent` and its worker process; the token has one secret. pkcs11js finds each of the three objects by its label.',
    'Idle memory is resident memory; that of the agent is the sum of both processes, so that pages that they share count twice. Discovery runs without a kubelet, and so without its device plugin.',
  ];
}
