import { type Measure, measured, type SkippedSubject, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { createConfigMaps, createNamespaces } from '../../support/config-maps.ts';
import { type Candidate, judgedMeasure } from '../../support/rounds.ts';
import { type FanOut, runFanOut, runRaw } from './fan-out-run.ts';
import { bowline, controllerRuntime, type SyncScene, strippedControllerRuntime } from './scene.ts';

const raw = { id: 'raw', label: 'bare node:http2 loop' };
const unrelatedNamespaces = Array.from({ length: 8 }, (_, index) => `unrelated-${index}`);

/**
 * fanOut measures one source and many copies: how long creating and changing them takes, and the memory of the operator
 * afterwards, without and then with many unrelated ConfigMaps.
 */
export async function fanOut(scene: SyncScene): Promise<readonly Measure[]> {
  const { plan, log } = scene;
  const alone = await rounds(scene, 'copies of one source', { count: plan.rounds, again: true }, [
    bowline(scene),
    controllerRuntime(scene),
    raw,
  ]);
  log(`creating ${plan.unrelated} unrelated ConfigMaps`);
  await createNamespaces(scene.api, unrelatedNamespaces);
  await createConfigMaps(scene.api, plan.unrelated, unrelatedNamespaces);
  const crowded = await rounds(
    scene,
    'copies of one source among unrelated ConfigMaps',
    { count: plan.memoryRounds, again: false },
    [bowline(scene), controllerRuntime(scene), strippedControllerRuntime(scene)],
  );
  for (const namespace of unrelatedNamespaces) {
    await scene.api.ok('DELETE', `/api/v1/namespaces/${namespace}/configmaps`);
  }
  return [...times(plan.copies, alone), memory(plan.unrelated, alone, crowded), ...costs(alone)];
}

interface Samples {
  readonly candidate: Candidate | typeof raw;
  readonly samples: readonly FanOut[];
}

async function rounds(
  scene: SyncScene,
  what: string,
  { count, again }: { readonly count: number; readonly again: boolean },
  candidates: readonly (Candidate | typeof raw)[],
): Promise<readonly Samples[]> {
  const { copies } = scene.plan;
  const all = candidates.map((candidate) => ({ candidate, samples: [] as FanOut[] }));
  for (let round = 0; round < count; round += 1) {
    scene.log(`${copies} ${what}, round ${round + 1} of ${count}`);
    for (const { candidate, samples } of rotate(all, round)) {
      if ('leftOut' in candidate) continue;
      const options = { copies, again };
      samples.push('command' in candidate ? await runFanOut(scene, candidate, options) : await runRaw(scene, options));
    }
  }
  return all;
}

/** Once just after the start, and once after the process has done it before: long-running processes are judged by both. */
const occasions = [
  { id: 'first', title: '' },
  { id: 'again', title: ', repeated' },
] as const;

const phases = ['create', 'update'] as const;

function times(copies: number, alone: readonly Samples[]): readonly Measure[] {
  return occasions.flatMap((occasion) =>
    phases.map((phase) => {
      const id = `sync-${phase}-${occasion.id}`;
      return judgedMeasure(
        {
          id,
          title: `one source, ${copies.toLocaleString('en-US')} copies, ${phase}${occasion.title}`,
          unit: 'ms',
          subjects: results(alone, (sample) => sample[occasion.id]?.[`${phase}Ms`]),
        },
        [
          { id: `${id}-raw`, subject: 'bowline', against: 'raw', bound: 'at most', limit: 1.2 },
          { id: `${id}-go`, subject: 'bowline', against: 'controller-runtime', bound: 'at most', limit: 1 },
        ],
      );
    }),
  );
}

function memory(unrelated: number, alone: readonly Samples[], crowded: readonly Samples[]): Measure {
  const count = unrelated.toLocaleString('en-US');
  const peak = (sample: FanOut): number | undefined => sample.memory?.peakMb;
  const without = results(alone, peak).map((each) => ({
    ...each,
    id: `${each.id}-alone`,
    label: `${each.label}, none`,
  }));
  const beside = results(crowded, peak).map((each) => ({ ...each, label: `${each.label}, ${count} unrelated` }));
  return judgedMeasure(
    { id: 'sync-memory', title: 'peak memory of that operator', unit: 'MB', subjects: [...without, ...beside] },
    [
      { id: 'sync-memory-alone', subject: 'bowline', against: 'bowline-alone', bound: 'at most', limit: 1.1 },
      { id: 'sync-memory-go', subject: 'bowline', against: 'controller-runtime', bound: 'at most', limit: 1 },
    ],
  );
}

function costs(alone: readonly Samples[]): readonly Measure[] {
  return [
    ...occasions.flatMap((occasion) =>
      phases.map((phase) =>
        judgedMeasure({
          id: `sync-${phase}-${occasion.id}-cpu`,
          title: `processor time of the writer, ${phase}${occasion.title}`,
          unit: 'ms',
          subjects: results(alone, (sample) => sample[occasion.id]?.[`${phase}CpuMs`]),
        }),
      ),
    ),
    ...phases.map((phase) =>
      judgedMeasure({
        id: `sync-${phase}-requests`,
        title: `requests for ConfigMaps per copy, ${phase}`,
        unit: 'requests',
        subjects: results(alone, (sample) => sample.first[`${phase}Requests`]),
      }),
    ),
  ];
}

/** results picks one number of each run; a candidate whose runs have none is not shown. */
function results(all: readonly Samples[], value: (sample: FanOut) => number | undefined): readonly SubjectResult[] {
  return all.flatMap(({ candidate, samples }): readonly (SubjectResult | SkippedSubject)[] => {
    if ('leftOut' in candidate) return [candidate];
    const values = samples.map(value).filter((each) => each !== undefined);
    return values.length === 0 ? [] : [measured(candidate.id, candidate.label, values)];
  });
}
