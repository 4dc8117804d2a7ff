import { type Measure, measured, type Unit } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, runSubject, subjectArguments } from '../../support/run-subject.ts';
import { withInstalled } from './installed.ts';
import { isSingleRead, isWrite, requestsSince } from './operator-requests.ts';
import { LABEL, type ZtwimScene } from './scene.ts';
import { runZtwim } from './ztwim-run.ts';

interface Restart {
  /** Until no work is left, from the start of the process. */
  readonly ms: number;
  readonly writes: number;
  readonly reads: number;
}

/** restart measures the start of the operator with all objects in place. */
export async function restart(scene: ZtwimScene): Promise<readonly Measure[]> {
  const { restartRounds: rounds } = scene.plan;
  const ours: Restart[] = [];
  const idle: number[] = [];
  await withInstalled(scene, async () => {
    for (let round = 0; round < rounds; round += 1) {
      scene.log(`restart, round ${round + 1} of ${rounds}`);
      ours.push(await restartOnce(scene));
      idle.push(await startIdle(scene));
    }
  });
  const ofOperator = (value: (restart: Restart) => number) => measured('bowline', LABEL, ours.map(value));
  const count = (id: 'writes' | 'reads', title: string): Measure => {
    const unit: Unit = 'requests';
    // A single violation counts.
    const value = Math.max(...ours.map((each) => each[id]));
    return judgedMeasure({ id: `restart-${id}`, title, unit, subjects: [measured('bowline', LABEL, [value])] }, [
      { id: `restart-${id}`, subject: 'bowline', bound: 'at most', limit: 0 },
    ]);
  };
  return [
    judgedMeasure(
      {
        id: 'restart',
        title: 'restart with all objects in place: from the start of the process until it is idle',
        unit: 'ms',
        subjects: [ofOperator(({ ms }) => ms), measured('idle', 'idle manager with ten informers', idle)],
      },
      [{ id: 'restart', subject: 'bowline', against: 'idle', bound: 'at most', limit: 2 }],
    ),
    count('writes', 'restart: writes'),
    count('reads', 'restart: reads of single objects'),
  ];
}

async function restartOnce(scene: ZtwimScene): Promise<Restart> {
  const since = Date.now();
  await using operator = await runZtwim(scene, { observe: 'activity' });
  const ms = await operator.idleMs();
  const requests = await requestsSince(scene, since);
  const found = requests.filter((request) => isWrite(request) || isSingleRead(request));
  for (const { text } of found) scene.log(`an unexpected request: ${text}`);
  return { ms, writes: requests.filter(isWrite).length, reads: requests.filter(isSingleRead).length };
}

/** startIdle starts the manager that `bench -- runtime` measures, until its informers have synced. */
async function startIdle(scene: ZtwimScene): Promise<number> {
  const idle = { id: 'idle', label: 'idle', command: scene.command('bowline-idle'), args: subjectArguments(scene) };
  return numberIn((await runSubject(idle, 0)).report, 'ms');
}
