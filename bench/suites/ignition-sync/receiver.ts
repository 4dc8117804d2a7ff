import { createHmac } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SimulatedGateway } from '../../../operators/ignition-sync/src/simulated-gateway/simulated-gateway.ts';
import type { GitRequest } from '../../../test/support/git/git-server.ts';
import { type Measure, measured } from '../../result.ts';
import { percentile } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { startAgent, writeApiKey } from './agent-process.ts';
import { runIgnitionSync } from './operator-run.ts';
import { watchReport } from './report-watch.ts';
import { HMAC_SECRET, type IgnitionScene, LABEL } from './scene.ts';
import { createGatewayPod, createSync, openNamespace, requestCommit, type SyncKey, watchSyncs } from './syncs.ts';

const key: SyncKey = { namespace: 'bench-receiver', name: 'plant' };
const POD = 'site-0';
/** By its token, a request of the agent differs from one of the operator. */
const AGENT_TOKEN = 'token-of-the-agent';
const authorization = `Basic ${Buffer.from(`x-access-token:${AGENT_TOKEN}`).toString('base64')}`;
const timeoutMs = 60_000;

/** receiver measures how long it takes from a webhook of a Git server until an agent fetches the pushed commit. */
export async function receiver(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { posts } = scene.plan;
  const repository = await scene.git.repositories.create('receiver.git');
  const commit = (revision: number): Promise<string> =>
    repository.commit({ 'projects/overview/project.json': JSON.stringify({ revision }) });
  const first = await commit(0);
  const repo = `${scene.git.url}/${repository.name}`;
  const folder = join(scene.folder, 'receiver');
  mkdirSync(join(folder, 'data'), { recursive: true });
  await openNamespace(scene, key.namespace);
  await createGatewayPod(scene, key, POD);
  await using gateway = new SimulatedGateway({ dataFolder: join(folder, 'data'), apiKeyFile: writeApiKey(folder) });
  await gateway.start();
  await using operator = await runIgnitionSync(scene);
  using syncs = await watchSyncs(scene, key.namespace);
  await createSync(scene, key, repo);
  await syncs.until(key.name, ({ lastSyncCommit }) => lastSyncCommit === first);
  using reports = await watchReport(scene, { ...key, cr: key.name, key: POD });
  const place = { namespace: key.namespace, cr: key.name, pod: POD, gateway: POD, repo, folder, servicePath: '.' };
  await using agent = await startAgent(scene, { ...place, gatewayPort: gateway.port, token: AGENT_TOKEN });
  await reports.until(({ syncedCommit }) => syncedCommit === first, agent);
  const times = { post: [] as number[], write: [] as number[] };
  for (let index = 0; index < posts; index += 1) {
    if (index % 25 === 0) scene.log(`webhooks of a Git server, ${index + 1} of ${posts}`);
    const pushed = await commit(index + 1);
    const fetched = untilFetched(scene);
    const started = performance.now();
    await post(operator.receiverPort, pushed);
    times.post.push((await fetched) - started);
    await reports.until(({ syncedCommit }) => syncedCommit === pushed, agent);
    await operator.settled();
    const writeStarted = performance.now();
    await requestCommit(scene, key, pushed);
    times.write.push(performance.now() - writeStarted);
    await operator.settled();
  }
  return [0.5, 0.99].map((fraction) => {
    const name = `p${fraction * 100}`;
    return judgedMeasure({
      id: `receiver-${name}`,
      title: `from a webhook until an agent fetches the commit, ${name}`,
      unit: 'ms',
      subjects: [
        measured('post', LABEL, [percentile(times.post, fraction)]),
        measured('write', 'the write of the annotation alone', [percentile(times.write, fraction)]),
      ],
    });
  });
}

/** untilFetched resolves with the time of the next request of the agent, as `performance.now()`. */
async function untilFetched(scene: IgnitionScene): Promise<number> {
  let resolve: (time: number) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const fetched = new Promise<number>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  const timer = setTimeout(() => reject(new Error(`the agent fetched nothing for ${timeoutMs} ms`)), timeoutMs);
  using _listener = scene.onGitRequest((request: GitRequest) => {
    if (request.authorization === authorization) resolve(performance.now());
  });
  try {
    return await fetched;
  } finally {
    clearTimeout(timer);
  }
}

async function post(port: number, commit: string): Promise<void> {
  const body = JSON.stringify({ ref: 'refs/heads/main', after: commit, deleted: false });
  const signature = createHmac('sha256', HMAC_SECRET).update(body).digest('hex');
  const response = await fetch(`http://127.0.0.1:${port}/webhook/${key.namespace}/${key.name}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-hub-signature-256': `sha256=${signature}`,
    },
    body,
  });
  if (response.status !== 202) throw new Error(`the receiver returned ${response.status}: ${await response.text()}`);
}
