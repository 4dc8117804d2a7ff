import { type GitRequest, startGitServer } from '../../../test/support/git/git-server.ts';
import type { BenchSuite } from '../../suite.ts';
import { Api } from '../../support/api.ts';
import { defineSuite } from '../../support/define-suite.ts';
import type { Peer } from '../../support/peers.ts';
import { openScene } from '../../support/scene.ts';
import { commits } from './commits.ts';
import { firstSync } from './first-sync.ts';
import { idle } from './idle.ts';
import { memory } from './memory.ts';
import { fullPlan, type Plan, quickPlan } from './plan.ts';
import { prepare } from './prepare.ts';
import { receiver } from './receiver.ts';
import { rollout } from './rollout.ts';
import type { IgnitionScene } from './scene.ts';
import { sharedSource } from './shared-source.ts';
import { start } from './start.ts';
import { subjects } from './subjects.ts';
import { transfer } from './transfer.ts';

/** suite measures the operator Ignition Sync and its agent, on a real control plane and with real git. */
export const suite: BenchSuite = defineSuite<IgnitionScene, Plan>({
  name: 'ignition-sync',
  title: 'Ignition Sync',
  plans: { full: fullPlan, quick: quickPlan },
  steps: [
    { name: 'prepare', run: prepare },
    { name: 'first-sync', needs: ['prepare'], run: firstSync },
    { name: 'transfer', needs: ['prepare'], run: transfer },
    { name: 'idle', needs: ['prepare'], run: idle },
    // Adds commits to the repository.
    { name: 'commits', needs: ['prepare'], run: commits },
    { name: 'rollout', needs: ['prepare'], run: rollout },
    { name: 'shared-source', needs: ['prepare'], run: sharedSource },
    { name: 'receiver', needs: ['prepare'], run: receiver },
    { name: 'start', needs: ['prepare'], run: start },
    // After everything that measures time: its repository fills the page cache.
    { name: 'memory', needs: ['prepare'], run: memory },
  ],
  async open(plan, log) {
    // Without controllers of workloads nothing but the operator and its agents writes.
    const scene = await openScene(subjects, log, { workloads: false });
    const listeners = new Set<(request: GitRequest) => void>();
    const git = await startGitServer({
      plain: true,
      onRequest: (request) => {
        for (const listener of listeners) listener(request);
      },
    });
    const api = new Api(scene.connection);
    return {
      ...scene,
      plan,
      api,
      git,
      known: {},
      onGitRequest(listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
      async [Symbol.asyncDispose]() {
        await api[Symbol.asyncDispose]();
        await git[Symbol.asyncDispose]();
        await scene[Symbol.asyncDispose]();
      },
    };
  },
  peers: ({ known }) => ({ rsync: known.rsync ?? missing, 'git-sync': known.gitSync ?? missing }),
  notes,
});

const missing: Peer = { skippedBecause: 'it was not prepared' };

function notes({ plan }: IgnitionScene): readonly string[] {
  const { files, megabytes } = plan.repository;
  return [
    'Ratios hold, absolute figures depend on the machine: API server, etcd, Git server, harness and subject share its cores.',
    'The Git server is git http-backend over plain HTTP on loopback, in the process of the harness, for all subjects alike; the system’s git is the client of all.',
    `The repository has ${files.toLocaleString('en-US')} files with ${megabytes} MB: half of them are small resource.json files, of the bytes half are JSON, a quarter scripts and a quarter images. The agent checks the syntax of the JSON, verifies the hash of every file and keeps a manifest; git and rsync do not.`,
    'A first sync of the agent counts from the start of its process, bundled, in an empty folder, until a bare watch of the harness has observed its report; loading Node and the TLS handshake with the API server are included. Both sides make every file durable.',
    'A commit counts from the request that changes the metadata ConfigMap, for the agent until the file has its new content, or until its report was observed; for the peer from the start of git fetch. In between the agent asks the gateway, simulated over TLS, for Designer sessions and a scan lock.',
    'In a rollout the agents of all gateways are played by one process, which writes reports and events as agents do when they have nothing to place. By default at most 25 gateways sync at the same time, and further steps of a plan are written once a second.',
    'Requests of a rollout are those in the audit log for its namespace, of operator and agents, watches not counted.',
    'Memory of several processes is the sum of their resident memory, sampled every 10 ms: pages that they share, such as those of a mapped pack, count for each.',
  ];
}
