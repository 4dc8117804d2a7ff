import { setTimeout as pause } from 'node:timers/promises';
import { ignitionSync } from '@bowline/ignition-sync';
import { operators } from '../../../apps/bowline/src/operators/operators.ts';
import { type Measure, measured, type Unit } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { treeMemoryMb } from '../../support/process-usage.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { IgnitionScene } from './scene.ts';

const timeoutMs = 60_000;
/** What follows the last sample must not count. */
const settleMs = 2_000;

interface Start {
  readonly ms: number;
  readonly memoryMb: number;
}

/** start measures `bowline up` until all samples are ready, with all operators and without this one. */
export async function start(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { startRounds: rounds } = scene.plan;
  const names = Object.keys(operators);
  if (!names.includes(ignitionSync.name)) throw new Error(`the command line does not know ${ignitionSync.name}`);
  const without = names.filter((name) => name !== ignitionSync.name).join(',');
  const starts = [
    { id: 'all', label: '`bowline up`, with all operators and samples', args: [], runs: [] as Start[] },
    {
      id: 'without',
      label: '`bowline up`, without ignition-sync',
      args: ['--operators', without],
      runs: [] as Start[],
    },
  ];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`bowline up, round ${round + 1} of ${rounds}`);
    for (const { args, runs } of rotate(starts, round)) runs.push(await startUp(scene, args));
  }
  const measure = (name: string, title: string, unit: Unit, value: (run: Start) => number) => ({
    id: `up-${name}`,
    title,
    unit,
    subjects: starts.map(({ id, label, runs }) => measured(id, label, runs.map(value))),
  });
  return [
    judgedMeasure(
      measure('time', '`bowline up` until everything is ready', 'ms', ({ ms }) => ms),
      [{ id: 'up-time', subject: 'all', bound: 'at most', limit: 60_000 }],
    ),
    judgedMeasure(measure('memory', '`bowline up`: memory of all its processes', 'MB', ({ memoryMb }) => memoryMb)),
  ];
}

async function startUp({ known }: IgnitionScene, args: readonly string[]): Promise<Start> {
  if (known.program === undefined) throw new Error('the program is not installed yet');
  const started = performance.now();
  const command = [known.program, 'up', '--json', ...args];
  await using up = new SubjectProcess({ file: process.execPath, args: command, endSignal: 'SIGTERM' }, []);
  const { ready } = await up.next(timeoutMs);
  const ms = performance.now() - started;
  if (ready !== true) throw new Error(`bowline up is not ready: ${up.output()}`);
  await pause(settleMs);
  return { ms, memoryMb: treeMemoryMb(up.pid) };
}
