import { setTimeout as pause } from 'node:timers/promises';
import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { percentile, rotate } from '../../statistics.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { type Subject, startSubject } from '../../support/run-subject.ts';
import { bowline, controllerRuntime, type SyncScene } from './scene.ts';
import { openSync } from './sync-run.ts';

/** The pause between two edits, as by a user or a pipeline: the effects of the last one are over. */
const betweenMs = 20;

/** edits measures how soon a copy follows its source, one edit after the other. */
export async function edits(scene: SyncScene): Promise<readonly Measure[]> {
  const { edits: count, editRounds } = scene.plan;
  const all = [bowline(scene), controllerRuntime(scene)].map((candidate) => ({ candidate, rounds: [] as number[][] }));
  for (let round = 0; round < editRounds; round += 1) {
    scene.log(`${count} edits of a source, round ${round + 1} of ${editRounds}`);
    for (const { candidate, rounds } of rotate(all, round)) {
      if ('command' in candidate) rounds.push(await editOften(scene, candidate, count));
    }
  }
  const subjects = (fraction: number): readonly SubjectResult[] =>
    all.map(({ candidate, rounds }) =>
      'leftOut' in candidate
        ? candidate
        : measured(
            candidate.id,
            candidate.label,
            rounds.map((times) => percentile(times, fraction)),
          ),
    );
  return [
    judgedMeasure({ id: 'edit-p50', title: 'source edited to copy changed, p50', unit: 'ms', subjects: subjects(0.5) }),
    judgedMeasure({
      id: 'edit-p99',
      title: 'source edited to copy changed, p99',
      unit: 'ms',
      subjects: subjects(0.99),
    }),
  ];
}

async function editOften(scene: SyncScene, subject: Subject, count: number): Promise<number[]> {
  await using sync = await openSync(scene, 1);
  await using _operator = await startSubject(subject);
  await sync.create();
  await sync.settled();
  const times: number[] = [];
  for (let edit = 0; edit < count; edit += 1) {
    await pause(betweenMs);
    times.push(await sync.edit(`edit-${edit}`));
  }
  return times;
}
