import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { runFanOut, runRaw, type Written } from './fan-out-run.ts';
import { createCopyNamespaces, untilNamespacesAreComplete } from './namespaces.ts';
import { bowline, controllerRuntime, type SyncScene } from './scene.ts';

interface Grown {
  /** By the number of copies, one entry per round. */
  readonly times: Map<number, Written[]>;
  readonly peaksMb: Map<number, number[]>;
}

/** growth measures how time and memory depend on the number of copies. */
export async function growth(scene: SyncScene): Promise<readonly Measure[]> {
  const { api, plan, log } = scene;
  const largest = Math.max(...plan.growth);
  log(`creating ${largest - plan.copies} more namespaces`);
  await createCopyNamespaces(api, { from: plan.copies, to: largest }, plan.growth);
  await untilNamespacesAreComplete(api, log);
  const raw = { id: 'raw', label: 'bare node:http2 loop' };
  const all = [bowline(scene), controllerRuntime(scene), raw].map((candidate) => ({
    candidate,
    grown: { times: new Map(), peaksMb: new Map() } satisfies Grown,
  }));
  for (let round = 0; round < plan.growthRounds; round += 1) {
    for (const copies of plan.growth) {
      log(`growth, ${copies} copies, round ${round + 1} of ${plan.growthRounds}`);
      for (const { candidate, grown } of rotate(all, round)) {
        if ('leftOut' in candidate) continue;
        const options = { copies, again: false };
        const { first, memory } =
          'command' in candidate ? await runFanOut(scene, candidate, options) : await runRaw(scene, options);
        push(grown.times, copies, first);
        if (memory !== undefined) push(grown.peaksMb, copies, memory.peakMb);
      }
    }
  }
  const subjects = (pick: (grown: Grown) => readonly number[]): readonly SubjectResult[] =>
    all.flatMap(({ candidate, grown }): readonly SubjectResult[] => {
      if ('leftOut' in candidate) return [candidate];
      const values = pick(grown);
      return values.length === 0 ? [] : [measured(candidate.id, candidate.label, values)];
    });
  return [
    ...plan.growth.flatMap((copies) =>
      (['create', 'update'] as const).map((phase) =>
        judgedMeasure({
          id: `growth-${phase}-${copies}`,
          title: `${copies.toLocaleString('en-US')} copies, ${phase}, per copy`,
          unit: 'ms',
          subjects: subjects(({ times }) => (times.get(copies) ?? []).map((each) => each[`${phase}Ms`] / copies)),
        }),
      ),
    ),
    ...plan.growth.map((copies) =>
      judgedMeasure({
        id: `growth-memory-${copies}`,
        title: `peak memory with ${copies.toLocaleString('en-US')} copies`,
        unit: 'MB',
        subjects: subjects(({ peaksMb }) => peaksMb.get(copies) ?? []),
      }),
    ),
    judgedMeasure({
      id: 'growth-memory-per-copy',
      title: `peak memory per further copy, from ${Math.min(...plan.growth)} to ${largest.toLocaleString('en-US')}`,
      unit: 'kB',
      subjects: subjects(({ peaksMb }) => perCopy(peaksMb, Math.min(...plan.growth), largest)),
    }),
  ];
}

/** perCopy returns the slope between the fewest and the most copies, by round. */
function perCopy(peaksMb: ReadonlyMap<number, readonly number[]>, fewest: number, most: number): readonly number[] {
  const low = peaksMb.get(fewest) ?? [];
  return (peaksMb.get(most) ?? []).map((peak, round) => ((peak - (low[round] ?? 0)) * 1_000) / (most - fewest));
}

function push<T>(values: Map<number, T[]>, key: number, value: T): void {
  values.set(key, [...(values.get(key) ?? []), value]);
}
