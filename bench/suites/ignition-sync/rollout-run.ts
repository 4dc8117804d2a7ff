import type { ServedRepository } from '../../../test/support/git/git-repositories.ts';
import { inParallel } from '../../support/api.ts';
import { startSubject, subjectArguments } from '../../support/run-subject.ts';
import type { RunningIgnitionSync } from './operator-run.ts';
import type { IgnitionScene } from './scene.ts';
import {
  createGatewayPod,
  createSync,
  isSyncedTo,
  openNamespace,
  requestCommit,
  type SyncKey,
  watchSyncs,
} from './syncs.ts';

const writesInFlight = 16;

/** Rollout is what it took until all gateways had a commit. */
export interface Rollout {
  readonly ms: number;
  /** The requests of operator and agents, watches not counted. */
  readonly requests: number;
  /** The writes of the status of the IgnitionSync. */
  readonly statusWrites: number;
}

/** RolloutFleet is an IgnitionSync whose gateways are at a commit, with their agents. */
export interface RolloutFleet extends AsyncDisposable {
  /** rollOut adds a commit and waits until all gateways have it. */
  rollOut(): Promise<Rollout>;
}

/** openFleet creates an IgnitionSync with its gateways, and rolls out the first commit. */
export async function openFleet(
  scene: IgnitionScene,
  operator: RunningIgnitionSync,
  gateways: number,
): Promise<RolloutFleet> {
  const key: SyncKey = { namespace: `bench-rollout-${gateways}`, name: 'plant' };
  const repository = await scene.git.repositories.create(`rollout-${gateways}.git`);
  let revision = 0;
  const first = await commitTo(repository, revision);
  await openNamespace(scene, key.namespace);
  const names = Array.from({ length: gateways }, (_, index) => `gateway-${String(index).padStart(3, '0')}`);
  await inParallel(names, writesInFlight, (name) => createGatewayPod(scene, key, name));
  const watch = await watchSyncs(scene, key.namespace);
  const agents = await startSubject({
    command: scene.command('rollout-agents'),
    args: subjectArguments(scene, { namespace: key.namespace, cr: key.name }),
  });
  await createSync(scene, key, `${scene.git.url}/${repository.name}`);
  await watch.until(key.name, isSyncedTo(first, gateways));
  await operator.settled();
  return {
    async rollOut() {
      revision += 1;
      const commit = await commitTo(repository, revision);
      const since = Date.now();
      const started = performance.now();
      await requestCommit(scene, key, commit);
      const ms = (await watch.until(key.name, isSyncedTo(commit, gateways))) - started;
      await operator.settled();
      return { ms, ...(await countRequests(scene, key, since)) };
    },
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await agents.release();
    },
  };
}

function commitTo(repository: ServedRepository, revision: number): Promise<string> {
  return repository.commit({ 'projects/overview/project.json': JSON.stringify({ revision }) });
}

async function countRequests(
  { cluster }: IgnitionScene,
  { namespace }: SyncKey,
  since: number,
): Promise<Omit<Rollout, 'ms'>> {
  const events = (await cluster.audit(since)).filter(
    ({ objectRef, verb, requestReceivedTimestamp }) =>
      objectRef?.namespace === namespace && verb !== 'watch' && Date.parse(requestReceivedTimestamp) >= since,
  );
  // The request of the harness, which starts the rollout.
  const [own, ...requests] = events;
  if (own?.objectRef?.resource !== 'ignitionsyncs') throw new Error('the rollout begins with another request');
  const isStatus = (resource = '', subresource = ''): boolean =>
    resource === 'ignitionsyncs' && subresource === 'status';
  const statusWrites = requests.filter(({ objectRef }) => isStatus(objectRef?.resource, objectRef?.subresource));
  return { requests: requests.length, statusWrites: statusWrites.length };
}
