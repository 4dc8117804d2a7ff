import { type Measure, measured, type Unit } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { type Heartbeats, runHeartbeats } from './heartbeats-run.ts';
import { type HsmScene, LABEL } from './scene.ts';

const bare = { id: 'bare', label: 'bare watch' };

/** heartbeats measures what repeated reports cost, and how that, and memory, depend on the number of pods. */
export async function heartbeats(scene: HsmScene): Promise<readonly Measure[]> {
  const { pods, heartbeats: count, growthHeartbeats: few, growth: sizes, growthRounds: rounds } = scene.plan;
  const samples = new Map<number, Heartbeats[]>(sizes.map((size) => [size, []]));
  for (let round = 0; round < rounds; round += 1) {
    // Back and forth, because creating pods takes longer than anything else.
    for (const size of round % 2 === 0 ? sizes : sizes.toReversed()) {
      const heartbeats = size === pods && round === 0 ? count : few;
      scene.log(`${heartbeats} heartbeats of ${size} pods, round ${round + 1} of ${rounds}`);
      samples.get(size)?.push(await runHeartbeats(scene, size, heartbeats));
    }
  }
  const of = (size: number): readonly Heartbeats[] => samples.get(size) ?? [];
  return [...costOf(count, pods, of(pods).slice(0, 1)), ...growthOf(few, sizes, of)];
}

function costOf(count: number, pods: number, runs: readonly Heartbeats[]): readonly Measure[] {
  const title = `${count.toLocaleString('en-US')} heartbeats of ${pods} pods`;
  return [
    judgedMeasure(
      {
        id: 'heartbeats-writes',
        title: `${title}: writes`,
        unit: 'requests',
        subjects: [ours(runs, ({ writes }) => writes)],
      },
      [{ id: 'heartbeats-writes', subject: 'bowline', bound: 'at most', limit: 0 }],
    ),
    judgedMeasure(
      {
        id: 'heartbeats-cpu',
        title: `${title}: processor time`,
        unit: 'ms',
        subjects: [
          ours(runs, ({ cpuMs }) => cpuMs),
          measured(
            bare.id,
            bare.label,
            runs.map(({ bareCpuMs }) => bareCpuMs),
          ),
        ],
      },
      [{ id: 'heartbeats-cpu', subject: 'bowline', against: 'bare', bound: 'at most', limit: 2 }],
    ),
  ];
}

function growthOf(
  count: number,
  sizes: readonly number[],
  of: (size: number) => readonly Heartbeats[],
): readonly Measure[] {
  const [few = 0, many = 0] = [sizes[0], sizes.at(-1)];
  const id = (size: number): string => `pods-${size}`;
  const bySize = (value: (run: Heartbeats) => number) =>
    sizes.map((size) => measured(id(size), `${LABEL}, ${size.toLocaleString('en-US')} pods`, of(size).map(value)));
  const measure = (name: string, title: string, unit: Unit, value: (run: Heartbeats) => number) => ({
    id: `growth-${name}`,
    title,
    unit,
    subjects: bySize(value),
  });
  const slopes = of(many).map(({ peakMb }, round) => ((peakMb - (of(few)[round]?.peakMb ?? 0)) * 1_000) / (many - few));
  return [
    judgedMeasure(
      measure('cpu', 'processor time per heartbeat', 'µs', ({ first }) => (first.cpuMs * 1_000) / count),
      sizes.slice(1).map((size) => ({
        id: `growth-cpu-${size}`,
        subject: id(size),
        against: id(few),
        bound: 'at most',
        limit: 1.2,
      })),
    ),
    judgedMeasure(measure('memory', 'peak memory after a start and the heartbeats', 'MB', ({ peakMb }) => peakMb)),
    judgedMeasure(
      {
        id: 'growth-memory-per-pod',
        title: `peak memory per further pod, from ${few} to ${many.toLocaleString('en-US')}`,
        unit: 'kB',
        subjects: [measured('bowline', LABEL, slopes)],
      },
      [{ id: 'growth-memory-per-pod', subject: 'bowline', bound: 'at most', limit: 12 }],
    ),
  ];
}

function ours(runs: readonly Heartbeats[], value: (run: Heartbeats) => number) {
  return measured('bowline', LABEL, runs.map(value));
}
