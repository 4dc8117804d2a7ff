import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { judgedMeasure, runRounds } from '../../support/rounds.ts';
import { numberIn, type Subject, subjectArguments } from '../../support/run-subject.ts';
import type { ControlPlaneScene } from './scene.ts';

/** ready measures how soon a program that starts a control plane in its own process gets its first response. */
export async function ready(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { readyRounds: rounds } = scene.plan;
  const subject = (id: string, label: string, parts: string): Subject => ({
    id,
    label,
    command: scene.command('embedded-ready'),
    args: subjectArguments(scene, { parts }),
  });
  const outcomes = await runRounds(
    [
      subject('embedded', 'embedded API server, in process', 'server'),
      subject('embedded-all', 'embedded, in process, with workload controllers, scheduler and two nodes', 'all'),
    ],
    {
      rounds,
      restMs: 0,
      announce: (round) => scene.log(`import to first response, round ${round + 1} of ${rounds}`),
    },
  );
  return [
    judgedMeasure(
      {
        id: 'ready',
        title: 'import to first response',
        unit: 'ms',
        subjects: [...outcomes.results(({ report }) => numberIn(report, 'readyMs')), realStart(scene)],
      },
      [{ id: 'ready-in-process', subject: 'embedded', bound: 'at most', limit: 100 }],
    ),
    judgedMeasure({
      id: 'ready-cpu',
      title: 'processor time until the first response',
      unit: 'ms',
      subjects: outcomes.results(({ report }) => numberIn(report, 'cpuMs')),
    }),
  ];
}

/** realStart returns the start time of the real control plane of this run. */
function realStart({ cluster }: ControlPlaneScene): SubjectResult {
  return measured('kubernetes', 'Kubernetes, as processes, with controllers and scheduler', [cluster.startMs]);
}
