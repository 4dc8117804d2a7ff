import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured } from '../../result.ts';
import { installProgram, ownEnvironment } from '../../support/installed-program.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import type { ControlPlaneScene } from './scene.ts';

const startTimeoutMs = 60_000;

/** command measures `bowline control-plane start --kind embedded`, from the start of Node to the kubeconfig. */
export async function command(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { commandRounds: rounds } = scene.plan;
  const folder = join(scene.folder, 'command');
  const program = await installProgram(folder);
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`control-plane start, round ${round + 1} of ${rounds}`);
    taken.push(await startOnce(program, join(folder, 'kubeconfig')));
  }
  return [
    judgedMeasure(
      {
        id: 'command',
        title: 'start of the command to its kubeconfig',
        unit: 'ms',
        subjects: [
          measured('embedded', 'bowline control-plane start --kind embedded', taken),
          measured('node', 'Node, idle', await emptyStarts(rounds)),
        ],
      },
      [{ id: 'ready-command', subject: 'embedded', bound: 'at most', limit: 400 }],
    ),
  ];
}

/** startOnce runs the command until its kubeconfig exists, which means that everything is ready, and then stops it. */
async function startOnce(program: string, kubeconfig: string): Promise<number> {
  const args = [program, 'control-plane', 'start', '--kind', 'embedded', '--kubeconfig', kubeconfig];
  const start = performance.now();
  const child = spawn(process.execPath, args, { stdio: 'ignore', env: ownEnvironment() });
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      resolve();
    };
    child.on('error', end).on('close', end);
  });
  try {
    while (!existsSync(kubeconfig)) {
      if (isOver) throw new Error('bowline control-plane start exited before it was ready');
      if (performance.now() - start > startTimeoutMs)
        throw new Error('bowline control-plane start was not ready in time');
      await pause(1);
    }
    return performance.now() - start;
  } finally {
    child.kill('SIGTERM');
    await over;
  }
}

/** emptyStarts returns the start time of Node itself. */
async function emptyStarts(rounds: number): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    await new Promise<void>((resolve, reject) => {
      const child = spawn(process.execPath, ['--eval', ''], { stdio: 'ignore', env: ownEnvironment() });
      child.on('error', reject).on('close', () => resolve());
    });
    taken.push(performance.now() - start);
  }
  return taken;
}
