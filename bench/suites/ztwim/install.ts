import { type Measure, measured, type Unit } from '../../result.ts';
import { startRawSender } from '../../support/raw-requests.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn } from '../../support/run-subject.ts';
import { createFive, uidsOf } from './five-objects.ts';
import { deleteAll } from './installed.ts';
import { type ObjectWatch, untilComplete, untilEmpty, watchChildren, watchFive } from './object-watch.ts';
import { isWrite, mostPerObject, requestsSince } from './operator-requests.ts';
import { asCreate, collectionPath, keyOf } from './recorded-writes.ts';
import { inFlight, LABEL, type ZtwimScene } from './scene.ts';
import { type RunningZtwim, runZtwim } from './ztwim-run.ts';

interface Install {
  readonly ms: number;
  readonly cpuMs: number;
}

interface OperatorInstall extends Install {
  /** The largest numbers for one object. */
  readonly writes: number;
  readonly dryRuns: number;
  readonly requests: number;
}

/** install measures how long the objects of all operands take, just after the start and again in the same process. */
export async function install(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { installRounds: rounds } = scene.plan;
  const ours: { first: OperatorInstall[]; again: OperatorInstall[] } = { first: [], again: [] };
  const raw: { first: Install[]; again: Install[] } = { first: [], again: [] };
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`install, round ${round + 1} of ${rounds}`);
    using children = await watchChildren(scene);
    const [first, ...again] = await installOften(scene, children);
    if (first) ours.first.push(first);
    ours.again.push(...again);
    const [rawFirst, ...rawAgain] = await createOften(scene, children);
    if (rawFirst) raw.first.push(rawFirst);
    raw.again.push(...rawAgain);
    await using operator = await runZtwim(scene);
    using five = await watchFive(scene);
    await deleteAll(scene, five, children);
    await operator.settled();
  }
  const count = scene.known.writes?.children.length ?? 0;
  const all = [...ours.first, ...ours.again];
  return [
    ...(['first', 'again'] as const).flatMap((occasion) => timesOf(count, occasion, ours[occasion], raw[occasion])),
    countOf('writes', 'install: most writes of one object', all, 1),
    countOf('dryRuns', 'install: most dry runs of one workload', all, 1),
    countOf('requests', 'install: requests of the operator', all),
  ];
}

function timesOf(
  count: number,
  occasion: 'first' | 'again',
  ours: readonly Install[],
  raw: readonly Install[],
): readonly Measure[] {
  const when = occasion === 'first' ? 'just after the start' : 'repeated in the same process';
  const subjects = (value: (install: Install) => number) => [
    measured('bowline', LABEL, ours.map(value)),
    measured('raw', 'bare node:http2 loop, creates', raw.map(value)),
  ];
  return [
    judgedMeasure(
      {
        id: `install-${occasion}`,
        title: `five objects until their ${count} objects exist, ${when}`,
        unit: 'ms',
        subjects: subjects(({ ms }) => ms),
      },
      [
        {
          id: `install-${occasion}`,
          subject: 'bowline',
          against: 'raw',
          bound: 'at most',
          limit: occasion === 'first' ? 4 : 2.5,
        },
      ],
    ),
    judgedMeasure({
      id: `install-${occasion}-cpu`,
      title: `processor time of the writer, ${when}`,
      unit: 'ms',
      subjects: subjects(({ cpuMs }) => cpuMs),
    }),
  ];
}

function countOf(
  id: 'writes' | 'dryRuns' | 'requests',
  title: string,
  installs: readonly OperatorInstall[],
  limit?: number,
): Measure {
  const unit: Unit = 'requests';
  const counts = installs.map((each) => each[id]);
  // A single violation counts.
  const value = limit === undefined ? counts : [Math.max(...counts)];
  return judgedMeasure(
    { id: `install-${id}`, title, unit, subjects: [measured('bowline', LABEL, value)] },
    limit === undefined ? [] : [{ id: `install-${id}`, subject: 'bowline', bound: 'at most', limit }],
  );
}

/** installOften installs everything in a new process, and again after everything was deleted. The last install stays. */
async function installOften(scene: ZtwimScene, children: ObjectWatch): Promise<readonly OperatorInstall[]> {
  await using operator = await runZtwim(scene);
  using five = await watchFive(scene);
  const installs = [await installOnce(scene, operator, children)];
  for (let again = 0; again < scene.plan.reinstalls; again += 1) {
    await deleteAll(scene, five, children);
    await operator.settled();
    installs.push(await installOnce(scene, operator, children));
  }
  return installs;
}

async function installOnce(scene: ZtwimScene, operator: RunningZtwim, children: ObjectWatch): Promise<OperatorInstall> {
  const since = Date.now();
  const cpuBefore = operator.cpuMs();
  const start = performance.now();
  await createFive(scene.api);
  const ms = (await untilComplete(children, scene)) - start;
  await operator.settled();
  const cpuMs = operator.cpuMs() - cpuBefore;
  const requests = (await requestsSince(scene, since)).filter(({ verb }) => verb !== 'watch');
  const names = new Set((scene.known.writes?.children ?? []).map(keyOf).map((key) => key.split('/').at(-1)));
  const ofChildren = requests.filter(({ name, subresource }) => names.has(name) && subresource === undefined);
  return {
    ms,
    cpuMs,
    writes: mostPerObject(ofChildren.filter(isWrite)),
    dryRuns: mostPerObject(ofChildren.filter(({ isDryRun }) => isDryRun)),
    requests: requests.length,
  };
}

/** createOften creates the same objects with the bare loop, for the five objects that exist. No operator may run. */
async function createOften(scene: ZtwimScene, children: ObjectWatch): Promise<readonly Install[]> {
  const { api, known, plan } = scene;
  const uids = await uidsOf(api);
  await using sender = await startRawSender(scene, inFlight);
  await sender.load((known.writes?.children ?? []).map((write) => asCreate(write, uids)));
  const installs: Install[] = [];
  for (let round = 0; round <= plan.reinstalls; round += 1) {
    await deleteChildren(scene, children);
    const report = await sender.send();
    installs.push({ ms: numberIn(report, 'ms'), cpuMs: numberIn(report, 'cpuMs') });
    await untilComplete(children, scene);
  }
  return installs;
}

async function deleteChildren({ api, known }: ZtwimScene, children: ObjectWatch): Promise<void> {
  for (const write of known.writes?.children ?? []) {
    await api.ok('DELETE', `${collectionPath(write)}/${keyOf(write).split('/').at(-1)}`, undefined, undefined, [404]);
  }
  await untilEmpty(children);
}
