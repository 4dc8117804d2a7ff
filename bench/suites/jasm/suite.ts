import { FakeAws } from '../../../operators/jasm/src/testing/fake-aws.test-support.ts';
import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { defineSuite } from '../../support/define-suite.ts';
import { openScene } from '../../support/scene.ts';
import { asks } from './asks.ts';
import { firstSync, growth } from './first-sync.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { namespaces } from './pods.ts';
import { prepare } from './prepare.ts';
import { restart } from './restart.ts';
import { inFlight, type JasmScene } from './scene.ts';

/** URLs, so that tools that move files find this list. */
const subjects = [
  new URL('./subjects/bowline-jasm.ts', import.meta.url),
  new URL('../../support/subjects/raw-writes.ts', import.meta.url),
];

/** suite measures the operator JASM on a real control plane, with a store that implements the protocol of AWS Secrets Manager. */
export const suite: BenchSuite = defineSuite<JasmScene, Plan>({
  name: 'jasm',
  title: 'JASM',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    { name: 'prepare', run: prepare },
    { name: 'first-sync', needs: ['prepare'], run: firstSync },
    { name: 'restart', needs: ['prepare'], run: restart },
    { name: 'asks', needs: ['prepare'], run: asks },
    { name: 'growth', needs: ['prepare'], run: growth },
  ],
  async open(plan, log) {
    const scene = await openScene(subjects, log);
    const aws = await FakeAws.start();
    const api = new Api(scene.connection);
    return {
      ...scene,
      plan,
      api,
      aws,
      known: { pods: 0 },
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await aws[Symbol.asyncDispose]();
        await scene[Symbol.asyncDispose]();
      },
    };
  },
  peers: () => ({}),
  notes,
});

function notes({ known }: JasmScene): readonly string[] {
  return [
    'Ratios hold, absolute figures depend on the machine: API server, etcd, store, harness and subject share its cores.',
    'The operator runs in its own fresh process, with only the permissions that it declares and with leader election; the rounds are interleaved; values are medians.',
    `Times of the operator count from the moment it has its configuration until a bare watch of the harness has observed the last Secret: connections, the Lease, the first lists, loading the AWS SDK and all calls to the store are included. Those of the bare loop count from its first request to its last response, with ${inFlight} in flight and bodies prepared beforehand.`,
    'The store is a fake AWS Secrets Manager in the process of the harness, without network latency. It verifies the signature of every call, which is included in the time.',
    `Ten pods share a source, and each has its own Secret; they are distributed over ${namespaces.length} namespaces and are never scheduled. A Secret has ${known.secretBytes ?? 0} bytes as written.`,
  ];
}
