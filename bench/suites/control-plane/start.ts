import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Measure, measured } from '../../result.ts';
import { installProgram, ownEnvironment } from '../../support/installed-program.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import type { ControlPlaneScene } from './scene.ts';

interface Started {
  /** From the start of npm to the line that reports that every sample is ready. */
  readonly ms: number;
  /** The time reported by `bowline up` itself. */
  readonly ownMs: number;
}

/** start measures what a new user waits for: `npm start` until the operators' samples are ready. */
export async function start(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { startRounds: rounds } = scene.plan;
  const folder = join(scene.folder, 'start');
  await installProgram(folder);
  const taken: Started[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`npm start, round ${round + 1} of ${rounds}`);
    taken.push(await startOnce(folder));
  }
  return [
    judgedMeasure(
      {
        id: 'start',
        title: '`npm start` until everything is ready',
        unit: 'ms',
        subjects: [
          measured(
            'npm-start',
            'npm start, with all operators and samples',
            taken.map(({ ms }) => ms),
          ),
          measured(
            'up',
            'of that, after bowline up was loaded',
            taken.map(({ ownMs }) => ownMs),
          ),
        ],
      },
      [{ id: 'npm-start', subject: 'npm-start', bound: 'at most', limit: 15_000 }],
    ),
  ];
}

/** startOnce runs it in a folder; it exits by itself, at the latest after its own timeout. */
async function startOnce(folder: string): Promise<Started> {
  const begun = performance.now();
  const child = spawn('npm', ['start', '--silent', '--', '--exit-when-ready', '--timeout', '60s', '--json'], {
    cwd: folder,
    env: ownEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  let started: Started | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const { ready, readyMs } = JSON.parse(line) as { readonly ready: boolean; readonly readyMs: number };
    if (ready) started = { ms: performance.now() - begun, ownMs: readyMs };
  }
  const [code] = await ended;
  if (code !== 0 || started === undefined) throw new Error(`npm start exited with ${code} before it was ready`);
  return started;
}
