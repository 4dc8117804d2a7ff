import { join } from 'node:path';
import { Node, Pod } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { BowlineError, findCondition, show } from '@bowline/runtime';
import type { DisplayState, LeftOut, LocalContext, LocalTrial } from '@bowline/runtime/manager';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { LABELS } from '../api/names.ts';
import { GitRunner } from '../git/runner/git-runner.ts';
import { SAMPLE, SAMPLE_PODS, samplesOf } from '../samples.ts';
import { GitHttpServer } from './git/git-http-server.ts';
import { notifyReceiver } from './git/notify-receiver.ts';
import { BRANCH, headOf, openPlantRepository, REPOSITORY } from './git/plant-repository.ts';
import { PlantGateways } from './plant/plant-gateways.ts';
import { followReports, stateOfPod } from './plant/synced-pods.ts';
import { openState, type TrialState } from './plant/trial-state.ts';

/** On nodes that a control plane for development simulates. */
const SIMULATED_NODE = 'node-agent.bowline.dev/agent';
/** Nothing pulls it: the agents run in this process. */
const AGENT_IMAGE = 'bowline:trial';

/**
 * startTrial starts a Git server with the sample repository, which calls the receiver after each push, and runs the agents and
 * simulated gateways of the sample pods. Without git, or with real nodes, the samples are left out.
 */
export async function startTrial(context: LocalContext): Promise<LocalTrial | LeftOut> {
  const { folder, admin, signal } = context;
  const runner = await openRunner(folder);
  if ('leftOut' in runner) return runner;
  const { items: nodes } = await admin.list(Node, { signal });
  if (nodes.some(({ metadata }) => metadata?.labels?.[SIMULATED_NODE] === undefined)) {
    return { leftOut: 'its gateways are simulated, which needs a control plane of `bowline up`; the operator runs' };
  }
  const state = await openState(folder);
  const server = await serveRepository(runner, state, context);
  const gateways = new PlantGateways({ context, folder: join(folder, 'pods'), namespace: SAMPLE.namespace });
  const reports = { context, namespace: SAMPLE.namespace, name: SAMPLE.name, pods: SAMPLE_PODS };
  const repo = server.urlOf(REPOSITORY);
  return {
    samples: samplesOf({ repo, ref: BRANCH, ...state }),
    config: {
      webhookReceiverHost: '127.0.0.1',
      webhookReceiverPort: state.receiverPort,
      agentImage: AGENT_IMAGE,
    },
    displayedResources: [
      show(IgnitionSync, { state: (sync) => stateOfSync(sync, repo, gateways.pages) }),
      show(Pod, {
        labelSelector: `${LABELS.agent}=true`,
        awaits: SAMPLE_PODS.map((pod) => `${SAMPLE.namespace}/${pod}`),
        state: stateOfPod,
      }),
    ],
    suggestedCommands: ['bowline ignition-sync sample push', 'bowline ignition-sync sample push --broken'],
    stopped: runUntilStopped(server, [gateways.run(signal), followReports(reports, signal)]),
  };
}

async function openRunner(folder: string): Promise<GitRunner | LeftOut> {
  try {
    return await GitRunner.open({ scratchFolder: join(folder, 'scratch') });
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    if (error.code !== 'BOWLINE_GIT_MISSING' && error.code !== 'BOWLINE_GIT_TOO_OLD') throw error;
    const leftOut = 'it needs git 2.38 or later on the PATH; install git, and start again';
    return { leftOut, isOperatorLeftOut: true };
  }
}

async function serveRepository(
  runner: GitRunner,
  { token, hmac, gitPort, receiverPort }: TrialState,
  { folder, log, signal }: LocalContext,
): Promise<GitHttpServer> {
  const gitDir = await openPlantRepository(runner, folder, systemClock, signal);
  let before = (await headOf(runner, gitDir)) ?? '';
  const onPush = async (): Promise<void> => {
    const after = (await headOf(runner, gitDir)) ?? '';
    if (after === before) return;
    const url = `http://127.0.0.1:${receiverPort}/webhook/${SAMPLE.namespace}/${SAMPLE.name}`;
    const push = { url, secret: hmac, repository: REPOSITORY, branch: BRANCH, before, after };
    before = after;
    // The commit is there in any case, and arrives with the next poll.
    await notifyReceiver(push, signal).catch((error: unknown) => log.warn('cannot call the receiver', { error }));
  };
  const onError = (error: unknown): void => log.warn('a request to the sample repository has failed', { error });
  return await GitHttpServer.start({ runner, folder, token, port: gitPort, onPush, onError });
}

async function runUntilStopped(server: GitHttpServer, running: readonly Promise<void>[]): Promise<void> {
  try {
    await Promise.all(running);
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

function stateOfSync(sync: IgnitionSync, repo: string, pages: readonly string[]): DisplayState {
  const ready = findCondition(sync, 'Ready');
  if (ready?.observedGeneration !== sync.metadata?.generation) return { isReady: false, message: 'not reconciled yet' };
  const isReady = ready?.status === 'True';
  const synced = findCondition(sync, 'AllGatewaysSynced')?.message ?? '';
  const addresses = [`repository ${repo}`, ...(pages.length > 0 ? [`gateways ${pages.join(' ')}`] : [])];
  const parts = [isReady ? undefined : ready?.message, synced, ...addresses];
  return { isReady, message: parts.filter(Boolean).join('; ') };
}
