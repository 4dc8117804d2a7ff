import { mkdir, readFile, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type AgentRig, agentRig, FIRST, GATEWAY, POD } from './agent-rig.test-support.ts';

const VIEW = 'projects/overview/view/view.json';
const SECOND = { [`services/site/${VIEW}`]: '{"version": 2}' };
const OTHER = 'site-1';
/** The time after which a lock that was not renewed is taken over. */
const STALE_SECONDS = 60;

/** Two gateways whose agents share the claim of their IgnitionSync. Neither runs yet. */
async function twoGateways(): Promise<{ readonly rig: AgentRig; readonly otherFolder: string }> {
  const rig = await agentRig({ spec: { storage: {} } });
  const otherFolder = join(rig.folder, 'other-data');
  await mkdir(otherFolder);
  return { rig, otherFolder };
}

async function publish(rig: AgentRig, commit: string): Promise<void> {
  const plan = { name: GATEWAY, commit, ref: 'main' };
  await rig.publish(commit, {
    metadata: { plan: { [POD]: { ...plan, key: GATEWAY }, [OTHER]: { ...plan, key: OTHER } } },
  });
}

/** The requests for objects; those for refs are not counted. */
const fetches = ({ git }: AgentRig): number =>
  git.requests.filter(({ method, url }) => method === 'POST' && url.endsWith('/git-upload-pack')).length;

it('scenario 11 fetches a commit once for two agents that share a claim', async () => {
  const { rig, otherFolder } = await twoGateways();
  await publish(rig, await rig.commit(FIRST));
  await using _agent = await rig.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending');
  const ofFirst = fetches(rig);
  expect(ofFirst).toBeGreaterThan(0);
  await using _other = await rig.start({ pod: OTHER, dataFolder: otherFolder });
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending', OTHER);
  expect(await rig.files(otherFolder)).toEqual(await rig.files());
  expect(fetches(rig)).toBe(ofFirst);

  // Both agents need the next commit at the same time.
  await publish(rig, await rig.commit(SECOND));
  for (const folder of [rig.dataFolder, otherFolder])
    await expect.poll(async () => (await rig.files(folder))[VIEW]).toBe('{"version": 2}');
  expect(fetches(rig)).toBe(2 * ofFirst);
});

it('scenario 11 takes over the lock of an agent that was killed during a fetch', async () => {
  const { rig, otherFolder } = await twoGateways();
  rig.git.fault = { kind: 'hang' };
  await publish(rig, await rig.commit(FIRST));
  const killed = await rig.start();
  const lock = join(rig.repoFolder, 'fetch.lock');
  await expect.poll(() => readFile(lock, 'utf8').catch(() => undefined)).toBe(POD);
  await expect.poll(() => rig.git.requests.length).toBeGreaterThan(0);
  process.kill(killed.pid, 'SIGKILL');
  await killed.ended;
  rig.git.fault = undefined;
  const requests = rig.git.requests.length;
  await using _other = await rig.start({ pod: OTHER, dataFolder: otherFolder });
  await rig.untilLine(({ msg, holder }) => msg === 'waiting for the fetch of another agent' && holder === POD);
  expect(rig.git.requests).toHaveLength(requests);
  // As if this much time had passed: the lock has the time of the file server.
  const { mtimeMs } = await stat(lock);
  await utimes(lock, mtimeMs / 1000, mtimeMs / 1000 - STALE_SECONDS);
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending', OTHER);
  expect((await rig.files(otherFolder))[VIEW]).toBe('{"version": 1}');
  await expect(stat(lock)).rejects.toMatchObject({ code: 'ENOENT' });

  const fetched = fetches(rig);
  await using _again = await rig.start();
  await rig.untilReport(({ syncStatus }) => syncStatus === 'Pending');
  expect(await rig.files()).toEqual(await rig.files(otherFolder));
  expect(fetches(rig)).toBe(fetched);
});
