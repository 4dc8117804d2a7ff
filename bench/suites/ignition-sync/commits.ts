import { readFileSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import type { SubjectProcess } from '../../support/subject-process.ts';
import { type BenchGateway, openGateway } from './gateway.ts';
import { copyDurably, runGit, type Tool } from './run-tool.ts';
import { AGENT, type IgnitionScene, plantOf } from './scene.ts';

/** commits measures what a commit costs that changes one file, and one that changes nothing for the gateway. */
export async function commits(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { rsync = { skippedBecause: 'it was not prepared' } } = scene.known;
  const plant = plantOf(scene);
  await using gateway = await openGateway(scene, { repo: plant.url, isRunning: true });
  await gateway.publish(plant.main);
  await using agent = await gateway.start();
  await gateway.reports.until(({ syncedCommit }) => syncedCommit === plant.main, agent);
  const folder = join(gateway.folder, 'peer');
  await runGit(gateway.folder, 'clone', '--quiet', '--depth', '1', plant.url, folder);
  const copy = 'skippedBecause' in rsync ? undefined : { rsync, data: join(gateway.folder, 'peer-data') };
  if (copy) await copyDurably(copy.rsync, folder, copy.data);
  const subjects = { scene, gateway, agent, folder, copy };
  // Uncounted: the first commit of a process loads code.
  await nothingChanged(subjects, -1);
  await oneFile(subjects, -1);
  return [...(await oneFileCommits(subjects, rsync)), ...(await otherCommits(subjects))];
}

interface Subjects {
  readonly scene: IgnitionScene;
  readonly gateway: BenchGateway;
  readonly agent: SubjectProcess;
  /** The clone of the peer. */
  readonly folder: string;
  readonly copy: { readonly rsync: Tool; readonly data: string } | undefined;
}

async function oneFileCommits(
  subjects: Subjects,
  rsync: Tool | { readonly skippedBecause: string },
): Promise<readonly Measure[]> {
  const { scene } = subjects;
  const times = { agent: [] as number[], peer: [] as number[] };
  for (let round = 0; round < scene.plan.commits; round += 1) {
    scene.log(`a commit with one file, ${round + 1} of ${scene.plan.commits}`);
    const { agentMs, peerMs } = await oneFile(subjects, round);
    times.agent.push(agentMs);
    if (peerMs !== undefined) times.peer.push(peerMs);
  }
  const label = '`git fetch --depth 1`, checkout, `rsync -a --fsync`';
  const peer: SubjectResult =
    'skippedBecause' in rsync
      ? { id: 'peer', label, leftOut: rsync.skippedBecause }
      : measured('peer', label, times.peer);
  return [
    judgedMeasure(
      {
        id: 'one-file',
        title: 'a commit with one file, from the changed ConfigMap to the file in place',
        unit: 'ms',
        subjects: [measured('agent', AGENT, times.agent), peer],
      },
      [{ id: 'one-file', subject: 'agent', against: 'peer', bound: 'at most', limit: 1.2 }],
    ),
  ];
}

async function oneFile(
  { scene, gateway, agent, folder, copy }: Subjects,
  round: number,
): Promise<{ readonly agentMs: number; readonly peerMs: number | undefined }> {
  const plant = plantOf(scene);
  const path = plant.fileAt(10 + 4 * (round + 1));
  const content = JSON.stringify({ round });
  const commit = await plant.commit({ [path]: content });
  const syncByAgent = async (): Promise<number> => {
    const placed = untilPlaced(join(gateway.dataFolder, path), content);
    const started = performance.now();
    await gateway.publish(commit);
    const ms = (await placed) - started;
    await gateway.reports.until(({ syncedCommit }) => syncedCommit === commit, agent);
    await gateway.simulated?.idle();
    return ms;
  };
  const syncByPeer = async (): Promise<number | undefined> => {
    const started = performance.now();
    await fetchMain(folder);
    await runGit(folder, 'checkout', '--quiet', '--detach', 'FETCH_HEAD');
    if (copy === undefined) return undefined;
    await copyDurably(copy.rsync, folder, copy.data);
    return performance.now() - started;
  };
  const [first, second] = round % 2 === 0 ? [syncByAgent, syncByPeer] : [syncByPeer, syncByAgent];
  const results = [await first(), await second()];
  const [agentMs = Number.NaN, peerMs] = round % 2 === 0 ? results : results.reverse();
  return { agentMs, peerMs };
}

function fetchMain(folder: string): Promise<void> {
  return runGit(folder, 'fetch', '--quiet', '--depth', '1', 'origin', 'main');
}

/** untilPlaced resolves with the time at which a file gets its content, as `performance.now()`. */
function untilPlaced(path: string, content: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const watcher = watch(dirname(path), (_event, name) => {
      if (name !== basename(path) || readFileSync(path, 'utf8') !== content) return;
      const now = performance.now();
      watcher.close();
      resolve(now);
    });
    watcher.on('error', reject);
  });
}

async function otherCommits(subjects: Subjects): Promise<readonly Measure[]> {
  const { scene, gateway } = subjects;
  const times = { agent: [] as number[], fetch: [] as number[] };
  const before = scansOf(gateway);
  for (let round = 0; round < scene.plan.commits; round += 1) {
    scene.log(`a commit that changes nothing for the gateway, ${round + 1} of ${scene.plan.commits}`);
    const { agentMs, fetchMs } = await nothingChanged(subjects, round);
    times.agent.push(agentMs);
    times.fetch.push(fetchMs);
  }
  const scans = scansOf(gateway) - before;
  return [
    judgedMeasure(
      {
        id: 'no-change',
        title: 'a commit that changes nothing for the gateway, from the changed ConfigMap to the report',
        unit: 'ms',
        subjects: [
          measured('agent', AGENT, times.agent),
          measured('fetch', '`git fetch --depth 1` alone', times.fetch),
        ],
      },
      [{ id: 'no-change', subject: 'agent', against: 'fetch', bound: 'at most', limit: 1.3 }],
    ),
    judgedMeasure(
      {
        id: 'no-change-scans',
        title: 'scans that the gateway was asked for by these commits',
        unit: 'requests',
        subjects: [measured('agent', AGENT, [scans])],
      },
      [{ id: 'no-change-scans', subject: 'agent', bound: 'at most', limit: 0 }],
    ),
  ];
}

async function nothingChanged(
  { scene, gateway, agent, folder }: Subjects,
  round: number,
): Promise<{ readonly agentMs: number; readonly fetchMs: number }> {
  const commit = await plantOf(scene).commit({ 'README.md': `round ${round}` });
  const syncByAgent = async (): Promise<number> => {
    const started = performance.now();
    await gateway.publish(commit);
    return (await gateway.reports.until(({ syncedCommit }) => syncedCommit === commit, agent)) - started;
  };
  const fetchAlone = async (): Promise<number> => {
    const started = performance.now();
    await fetchMain(folder);
    return performance.now() - started;
  };
  const [first, second] = round % 2 === 0 ? [syncByAgent, fetchAlone] : [fetchAlone, syncByAgent];
  const results = [await first(), await second()];
  const [agentMs = Number.NaN, fetchMs = Number.NaN] = round % 2 === 0 ? results : results.reverse();
  return { agentMs, fetchMs };
}

function scansOf({ folder }: BenchGateway): number {
  const lines = readFileSync(join(folder, 'journal'), 'utf8').split('\n').filter(Boolean);
  const calls = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  return calls.filter(({ method, path }) => method === 'POST' && String(path).includes('/scan/')).length;
}
