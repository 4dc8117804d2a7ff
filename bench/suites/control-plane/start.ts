import { join } from 'node:path';
import { type Measure, measured } from '../../result.ts';
import { installProgram } from '../../support/installed-program.ts';
import { type NpmStart, npmStart } from '../../support/npm-start.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import type { ControlPlaneScene } from './scene.ts';

/** start measures what a new user waits for: `npm start` until the operators' samples are ready. */
export async function start(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { startRounds: rounds } = scene.plan;
  const folder = join(scene.folder, 'start');
  await installProgram(folder);
  const taken: NpmStart[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`npm start, round ${round + 1} of ${rounds}`);
    taken.push(await npmStart(folder));
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
