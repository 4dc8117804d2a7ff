import type { Measure } from '../../result.ts';
import { judgedMeasure, runRounds } from '../../support/rounds.ts';
import { numberIn, type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { RuntimeScene } from './scene.ts';

/** overhead measures the cost of an empty reconcile: queue, causes, context, log context, metrics. */
export async function overhead(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { objects, reconciles, overheadRounds } = scene.plan;
  const bowline: Subject = {
    id: 'bowline',
    label: 'Bowline controller',
    command: scene.command('bowline-overhead'),
    args: subjectArguments(scene, { objects, reconciles }),
  };
  const outcomes = await runRounds([bowline], {
    rounds: overheadRounds,
    restMs: 0,
    announce: (round) => scene.log(`overhead of ${reconciles} reconciles, round ${round + 1} of ${overheadRounds}`),
  });
  return [
    judgedMeasure(
      {
        id: 'overhead',
        title: 'overhead per reconcile',
        unit: 'µs',
        subjects: outcomes.results(({ report }) => numberIn(report, 'reconcileUs')),
      },
      [{ id: 'overhead', subject: 'bowline', bound: 'at most', limit: 50 }],
    ),
  ];
}
