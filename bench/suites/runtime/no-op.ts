import { type Measure, measured } from '../../result.ts';
import { Api } from '../../support/api.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, runSubject, subjectArguments } from '../../support/run-subject.ts';
import type { RuntimeScene } from './scene.ts';

const namespace = 'bench-no-op';
const children = 10;

/** noOp measures a reconcile that declares children and a status that already match: nothing may be sent. */
export async function noOp(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { owners, reconciles, noOpRounds: rounds } = scene.plan;
  await using api = new Api(scene.connection);
  await createNamespaces(api, [namespace]);
  const reports: Report[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`reconciles without changes, round ${round + 1} of ${rounds}`);
    const args = subjectArguments(scene, { namespace, owners, children, reconciles });
    const { report } = await runSubject(
      { id: 'bowline', label: 'Bowline controller', command: scene.command('bowline-no-op'), args },
      0,
    );
    const sent = numberIn(report, 'sent');
    if (sent > 0) throw new Error(`${sent} requests were sent although nothing had to change`);
    reports.push(report);
  }
  return [
    judgedMeasure({
      id: 'no-op',
      title: 'reconcile that changes nothing and sends nothing',
      unit: 'µs',
      subjects: [
        measured('declared', `Bowline, ${children} children and a status declared`, each(reports, 'declaredUs')),
        measured('empty', 'Bowline, nothing declared', each(reports, 'emptyUs')),
      ],
    }),
  ];
}

function each(reports: readonly Report[], field: string): readonly number[] {
  return reports.map((report) => numberIn(report, field));
}
