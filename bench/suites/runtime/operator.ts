import type { Measure } from '../../result.ts';
import { type Candidate, judgedMeasure, peerCandidate, runRounds } from '../../support/rounds.ts';
import { numberIn, type Subject, subjectArguments } from '../../support/run-subject.ts';
import { withSmallHeap } from './cold-sync.ts';
import type { RuntimeScene } from './scene.ts';

const restMs = 500;

/** wholeOperator measures a manager with one controller from its start until it has reconciled every ConfigMap. */
export async function wholeOperator(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { objects, operatorRounds } = scene.plan;
  const bowline: Subject = {
    id: 'bowline',
    label: 'Bowline operator',
    command: scene.command('bowline-operator'),
    args: subjectArguments(scene, { objects }),
  };
  const candidates: readonly Candidate[] = [
    bowline,
    withSmallHeap(bowline),
    peerCandidate('controller-runtime', 'controller-runtime operator', scene.controllerRuntime, [
      '-kubeconfig',
      scene.kubeconfig,
      '-shape',
      'operator',
      '-objects',
      String(objects),
    ]),
  ];
  const outcomes = await runRounds(candidates, {
    rounds: operatorRounds,
    restMs,
    announce: (round) => scene.log(`an operator on ${objects} ConfigMaps, round ${round + 1} of ${operatorRounds}`),
  });
  const count = objects.toLocaleString('en-US');
  return [
    judgedMeasure({
      id: 'operator-time',
      title: `whole operator until ${count} ConfigMaps are reconciled`,
      unit: 'ms',
      subjects: outcomes.results(({ report }) => numberIn(report, 'syncMs')),
    }),
    judgedMeasure({
      id: 'operator-peak',
      title: 'peak memory of that operator',
      unit: 'MB',
      subjects: outcomes.results(({ memory }) => memory.peakMb),
    }),
  ];
}
