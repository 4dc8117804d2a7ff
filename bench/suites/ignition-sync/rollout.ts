import { type Measure, measured, type Unit } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { runIgnitionSync } from './operator-run.ts';
import { openFleet, type Rollout } from './rollout-run.ts';
import { type IgnitionScene, LABEL } from './scene.ts';

/** The number of gateways is no exact multiple of those that sync at the same time. */
const slopeLimit = 1.3;

/** rollout measures how time and requests of a rollout depend on the number of gateways. */
export async function rollout(scene: IgnitionScene): Promise<readonly Measure[]> {
  const { gateways: sizes, rolloutRounds: rounds } = scene.plan;
  const runs = new Map<number, Rollout[]>();
  {
    await using operator = await runIgnitionSync(scene);
    for (const size of sizes) {
      scene.log(`creating ${size} gateways`);
      await using fleet = await openFleet(scene, operator, size);
      const rollouts: Rollout[] = [];
      for (let round = 0; round < rounds; round += 1) {
        scene.log(`a rollout to ${size} gateways, round ${round + 1} of ${rounds}`);
        rollouts.push(await fleet.rollOut());
      }
      runs.set(size, rollouts);
    }
  }
  return describeRollouts(sizes, (size) => runs.get(size) ?? []);
}

function describeRollouts(
  sizes: IgnitionScene['plan']['gateways'],
  of: (size: number) => readonly Rollout[],
): readonly Measure[] {
  const [few, many, most] = sizes;
  const id = (size: number): string => `gateways-${size}`;
  const measure = (name: string, title: string, unit: Unit, value: (run: Rollout, size: number) => number) => ({
    id: `rollout-${name}`,
    title,
    unit,
    subjects: sizes.map((size) =>
      measured(
        id(size),
        `${LABEL}, ${size} gateways`,
        of(size).map((run) => value(run, size)),
      ),
    ),
  });
  const slopes = (from: number, to: number): readonly number[] =>
    of(to).map(({ ms }, round) => (ms - (of(from)[round]?.ms ?? Number.NaN)) / (to - from));
  return [
    judgedMeasure(measure('time', 'a rollout, from the request to the status', 'ms', ({ ms }) => ms)),
    judgedMeasure(
      {
        id: 'rollout-slope',
        title: 'a rollout: time per further gateway',
        unit: 'ms',
        subjects: [
          measured('most', `${LABEL}, from ${many} to ${most} gateways`, slopes(many, most)),
          measured('many', `${LABEL}, from ${few} to ${many} gateways`, slopes(few, many)),
        ],
      },
      [{ id: 'rollout-slope', subject: 'most', against: 'many', bound: 'at most', limit: slopeLimit }],
    ),
    judgedMeasure(
      measure('requests', 'a rollout: requests per gateway', 'requests', ({ requests }, size) => requests / size),
      sizes.map((size) => ({ id: `rollout-requests-${size}`, subject: id(size), bound: 'at most', limit: 4 })),
    ),
    judgedMeasure(
      measure(
        'status',
        'a rollout: writes of the status of the IgnitionSync',
        'writes/s',
        ({ statusWrites, ms }) => statusWrites / Math.max(1, ms / 1_000),
      ),
      [{ id: 'rollout-status', subject: id(most), bound: 'at most', limit: 1 }],
    ),
  ];
}
