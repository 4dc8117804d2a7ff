import { join } from 'node:path';
import { ztwim } from '@bowline/ztwim';
import { operators } from '../../../apps/bowline/src/operators/operators.ts';
import { type Measure, measured } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { installProgram } from '../../support/installed-program.ts';
import { npmStart } from '../../support/npm-start.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import type { ZtwimScene } from './scene.ts';

/** start measures `npm start` until all samples are ready, with all operators and without this one. */
export async function start(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { startRounds: rounds } = scene.plan;
  const names = Object.keys(operators);
  if (!names.includes(ztwim.name)) throw new Error(`the command line does not know the operator ${ztwim.name}`);
  const folder = join(scene.folder, 'start');
  await installProgram(folder);
  const without = names.filter((name) => name !== ztwim.name).join(',');
  const starts = [
    { id: 'all', label: 'npm start, with all operators and samples', args: [], times: [] as number[] },
    { id: 'without', label: 'npm start, without ztwim', args: ['--operators', without], times: [] as number[] },
  ];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`npm start, round ${round + 1} of ${rounds}`);
    for (const { args, times } of rotate(starts, round)) times.push((await npmStart(folder, args)).ms);
  }
  return [
    judgedMeasure(
      {
        id: 'start',
        title: '`npm start` until everything is ready',
        unit: 'ms',
        subjects: starts.map(({ id, label, times }) => measured(id, label, times)),
      },
      [{ id: 'start', subject: 'all', against: 'without', bound: 'at most', limit: 1.5 }],
    ),
  ];
}
