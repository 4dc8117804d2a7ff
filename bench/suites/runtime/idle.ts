import type { Measure } from '../../result.ts';
import { judgedMeasure, runRounds } from '../../support/rounds.ts';
import { type Subject, subjectArguments } from '../../support/run-subject.ts';
import { withSmallHeap } from './cold-sync.ts';
import type { RuntimeScene } from './scene.ts';

/** idleMemory measures a manager that has synced ten kinds and is idle. */
export async function idleMemory(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { idleRounds, settleMs } = scene.plan;
  const args = subjectArguments(scene);
  const bowline: Subject = { id: 'bowline', label: 'Bowline manager', command: scene.command('bowline-idle'), args };
  const node: Subject = { id: 'node', label: 'Node, idle', command: scene.command('nothing'), args };
  const outcomes = await runRounds([bowline, withSmallHeap(bowline), node], {
    rounds: idleRounds,
    restMs: settleMs,
    announce: (round) => scene.log(`idle memory with ten informers, round ${round + 1} of ${idleRounds}`),
  });
  return [
    judgedMeasure(
      {
        id: 'idle',
        title: 'idle memory of a manager with ten informers',
        unit: 'MB',
        subjects: outcomes.results(({ memory }) => memory.currentMb),
      },
      [
        { id: 'idle', subject: 'bowline', bound: 'at most', limit: 75 },
        { id: 'idle-small', subject: 'bowline-small', bound: 'at most', limit: 75 },
      ],
    ),
  ];
}
