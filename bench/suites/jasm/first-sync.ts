import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { type FirstSync, runFirstSync, runRaw } from './first-sync-run.ts';
import { sourcesOf } from './pods.ts';
import type { JasmScene } from './scene.ts';

const runs = [
  { id: 'bowline', label: 'Bowline jasm', run: runFirstSync },
  { id: 'raw', label: 'bare node:http2 loop', run: runRaw },
] as const;

/** Samples holds the results of the operator and the bare loop, by round. */
type Samples = Readonly<Record<(typeof runs)[number]['id'], readonly FirstSync[]>>;

/** firstSync measures the start of the operator in a cluster whose pods have no Secrets yet. */
export async function firstSync(scene: JasmScene): Promise<readonly Measure[]> {
  const { pods, rounds } = scene.plan;
  const samples = await takeRounds(scene, pods, rounds);
  const sources = sourcesOf(pods);
  const title = `${pods.toLocaleString('en-US')} pods, ${sources} sources`;
  return [
    judgedMeasure(
      { id: 'first-sync', title: `${title}: until every Secret exists`, unit: 'ms', subjects: times(samples) },
      [{ id: 'first-sync-raw', subject: 'bowline', against: 'raw', bound: 'at most', limit: 1.5 }],
    ),
    judgedMeasure({
      id: 'first-sync-settled',
      title: 'until every pod also has its event',
      unit: 'ms',
      subjects: ofOperator(samples, ({ settledMs }) => settledMs),
    }),
    judgedMeasure({
      id: 'first-sync-cpu',
      title: 'processor time of the writer; of the operator since its process started',
      unit: 'ms',
      subjects: subjects(samples, ({ cpuMs }) => cpuMs),
    }),
    calls(samples, 'first-sync', title, sources),
    judgedMeasure(
      {
        id: 'first-sync-memory',
        title: 'peak memory of the operator',
        unit: 'MB',
        subjects: ofOperator(samples, ({ peakMb }) => peakMb),
      },
      [{ id: 'first-sync-memory', subject: 'bowline', bound: 'at most', limit: 100 }],
    ),
  ];
}

/** growth measures how time, calls and memory depend on the number of pods. */
export async function growth(scene: JasmScene): Promise<readonly Measure[]> {
  const { growth: sizes, growthRounds } = scene.plan;
  const measures: Measure[] = [];
  const peaks: (readonly number[])[] = [];
  for (const pods of sizes) {
    const samples = await takeRounds(scene, pods, growthRounds);
    const title = `${pods.toLocaleString('en-US')} pods`;
    peaks.push(samples.bowline.flatMap(({ operator }) => operator?.peakMb ?? []));
    measures.push(
      judgedMeasure({
        id: `growth-${pods}`,
        title: `${title}: until every Secret exists, per Secret`,
        unit: 'ms',
        subjects: subjects(samples, ({ ms }) => ms / pods),
      }),
      calls(samples, `growth-${pods}`, title, sourcesOf(pods)),
      judgedMeasure({
        id: `growth-memory-${pods}`,
        title: `${title}: peak memory`,
        unit: 'MB',
        subjects: ofOperator(samples, ({ peakMb }) => peakMb),
      }),
    );
  }
  const [smallest = [], largest = []] = [peaks[0], peaks.at(-1)];
  const [few = 0, many = 0] = [sizes[0], sizes.at(-1)];
  const slopes = largest.map((peak, round) => ((peak - (smallest[round] ?? 0)) * 1_000) / (many - few));
  return [
    ...measures,
    judgedMeasure({
      id: 'growth-memory-per-pod',
      title: `peak memory per further pod, from ${few} to ${many.toLocaleString('en-US')}`,
      unit: 'kB',
      subjects: [measured('bowline', 'Bowline jasm', slopes)],
    }),
  ];
}

/** takeRounds runs the operator and the bare loop alternately, each round starting with the other one. */
async function takeRounds(scene: JasmScene, pods: number, rounds: number): Promise<Samples> {
  const samples = { bowline: [] as FirstSync[], raw: [] as FirstSync[] };
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`first sync of ${pods} pods, round ${round + 1} of ${rounds}`);
    for (const { id, run } of rotate(runs, round)) samples[id].push(await run(scene, pods));
  }
  return samples;
}

function calls(samples: Samples, id: string, title: string, sources: number): Measure {
  return judgedMeasure(
    {
      id: `${id}-calls`,
      title: `${title}: calls to the store`,
      unit: 'requests',
      subjects: ofOperator(samples, (operator) => operator.calls),
    },
    [{ id: `${id}-calls`, subject: 'bowline', bound: 'at most', limit: sources }],
  );
}

function times(samples: Samples): readonly SubjectResult[] {
  return subjects(samples, ({ ms }) => ms);
}

function subjects(samples: Samples, value: (sample: FirstSync) => number): readonly SubjectResult[] {
  return runs.map(({ id, label }) => measured(id, label, samples[id].map(value)));
}

function ofOperator(
  { bowline }: Samples,
  value: (operator: NonNullable<FirstSync['operator']>) => number,
): readonly SubjectResult[] {
  const values = bowline.flatMap(({ operator }) => (operator ? [value(operator)] : []));
  return [measured(runs[0].id, runs[0].label, values)];
}
