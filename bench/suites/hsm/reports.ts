import { type Measure, measured } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { type ReportsAtOnce, runRawReports, runReports } from './reports-run.ts';
import { type HsmScene, LABEL } from './scene.ts';

const runs = [
  { id: 'bowline', label: LABEL, run: runReports },
  { id: 'raw', label: 'bare node:http2 loop, no operator', run: runRawReports },
] as const;

/** reports measures how long it takes until the pool shows the devices of pods that report at the same time. */
export async function reports(scene: HsmScene): Promise<readonly Measure[]> {
  const { pods, reportRounds: rounds } = scene.plan;
  const samples = { bowline: [] as ReportsAtOnce[], raw: [] as ReportsAtOnce[] };
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${pods} pods report at once, round ${round + 1} of ${rounds}`);
    for (const { id, run } of rotate(runs, round)) samples[id].push(await run(scene, pods));
  }
  const operator = samples.bowline.flatMap((sample) => sample.operator ?? []);
  const title = `${pods.toLocaleString('en-US')} pods report at once`;
  return [
    judgedMeasure(
      {
        id: 'reports',
        title: `${title}: until the pool shows all`,
        unit: 'ms',
        subjects: runs.map(({ id, label }) =>
          measured(
            id,
            label,
            samples[id].map(({ ms }) => ms),
          ),
        ),
      },
      [{ id: 'reports-raw', subject: 'bowline', against: 'raw', bound: 'at most', limit: 1.3 }],
    ),
    judgedMeasure(
      {
        id: 'reports-writes',
        title: `${title}: writes of the status`,
        unit: 'requests',
        subjects: [
          measured(
            'bowline',
            LABEL,
            operator.map(({ statusWrites }) => statusWrites),
          ),
        ],
      },
      [{ id: 'reports-writes', subject: 'bowline', bound: 'at most', limit: 50 }],
    ),
    judgedMeasure({
      id: 'reports-cpu',
      title: `${title}: processor time of the operator`,
      unit: 'ms',
      subjects: [
        measured(
          'bowline',
          LABEL,
          operator.map(({ cpuMs }) => cpuMs),
        ),
      ],
    }),
  ];
}
