import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import type { Peer } from '../../support/peers.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { openGateway } from './gateway.ts';
import { copyDurably, runGit, runTool, type Tool } from './run-tool.ts';
import { AGENT, type IgnitionScene, plantOf } from './scene.ts';

/** FirstSync is a program that fills an empty folder, or why it cannot run here. */
interface FirstSync {
  readonly id: string;
  readonly label: string;
  readonly run: ((scene: IgnitionScene) => Promise<number>) | { readonly skippedBecause: string };
}

/** firstSync measures how long it takes until an empty data folder has all files. */
export async function firstSync(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { firstSyncRounds: rounds, repository } = scene.plan;
  const runs = subjectsOf(scene);
  const times = new Map<string, number[]>(runs.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`first sync, round ${round + 1} of ${rounds}`);
    for (const { id, run } of rotate(runs, round)) {
      if (typeof run === 'function') times.get(id)?.push(await run(scene));
    }
  }
  const subjects = runs.map(
    ({ id, label, run }): SubjectResult =>
      typeof run === 'function' ? measured(id, label, times.get(id) ?? []) : { id, label, leftOut: run.skippedBecause },
  );
  const against = (peer: string) =>
    ({ id: `plant-first-sync-${peer}`, subject: 'agent', against: peer, bound: 'at most', limit: 1 }) as const;
  const size = `${repository.files.toLocaleString('en-US')} files, ${repository.megabytes} MB`;
  return [
    judgedMeasure({ id: 'plant-first-sync', title: `first sync, ${size}`, unit: 'ms', subjects }, [
      against('clone'),
      against('git-sync'),
    ]),
  ];
}

function subjectsOf({ known }: IgnitionScene): readonly FirstSync[] {
  const { rsync = missing, gitSync = missing } = known;
  return [
    { id: 'agent', label: `${AGENT}, with the start of its process`, run: syncByAgent },
    {
      id: 'clone',
      label: '`git clone --depth 1`, `rsync -a --fsync`',
      run: 'skippedBecause' in rsync ? rsync : (scene) => syncByClone(scene, rsync),
    },
    {
      id: 'git-sync',
      label: '`git-sync --one-time`, `rsync -a --fsync`',
      run:
        'skippedBecause' in gitSync
          ? gitSync
          : 'skippedBecause' in rsync
            ? rsync
            : (scene) => syncByGitSync(scene, gitSync, rsync),
    },
  ];
}

const missing: Peer = { skippedBecause: 'it was not prepared' };

async function syncByAgent(scene: IgnitionScene): Promise<number> {
  const { url, main } = plantOf(scene);
  await using gateway = await openGateway(scene, { repo: url });
  const hash = await gateway.publish(main);
  const started = performance.now();
  await using agent = await gateway.start();
  return (await gateway.reports.until(({ appliedHash }) => appliedHash === hash, agent)) - started;
}

async function syncByClone(scene: IgnitionScene, rsync: Tool): Promise<number> {
  return await inEmptyFolder(scene, async (folder, data) => {
    await runGit(folder, 'clone', '--quiet', '--depth', '1', plantOf(scene).url, 'clone');
    await copyDurably(rsync, join(folder, 'clone'), data);
  });
}

async function syncByGitSync(scene: IgnitionScene, gitSync: Tool, rsync: Tool): Promise<number> {
  return await inEmptyFolder(scene, async (folder, data) => {
    const flags = ['--one-time', '--depth=1', '--ref=main', `--repo=${plantOf(scene).url}`, `--root=${folder}/root`];
    await runTool(gitSync, folder, [...flags, '--link=current']);
    await copyDurably(rsync, join(folder, 'root/current'), data);
  });
}

async function inEmptyFolder(
  scene: IgnitionScene,
  work: (folder: string, data: string) => Promise<void>,
): Promise<number> {
  const folder = join(scene.folder, 'first-sync');
  const data = join(folder, 'data');
  mkdirSync(data, { recursive: true });
  try {
    const started = performance.now();
    await work(folder, data);
    return performance.now() - started;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
