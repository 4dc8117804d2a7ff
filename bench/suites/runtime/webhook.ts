import { join } from 'node:path';
import { type Measure, measured } from '../../result.ts';
import { sampleConfigMap } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import { callWebhooks, creationReview, issueServerCertificate } from '../../support/webhook-calls.ts';
import type { RuntimeScene } from './scene.ts';

const startTimeoutMs = 60_000;
const distinctReviews = 500;

/** webhook measures one admission through the runtime's webhook server, compared with a TLS server that returns a constant. */
export async function webhook(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { reviews, webhookRounds: rounds } = scene.plan;
  const folder = await issueServerCertificate(join(scene.folder, 'webhook'));
  const bodies = Array.from({ length: distinctReviews }, (_, index) =>
    creationReview(index, {
      group: '',
      version: 'v1',
      kind: 'ConfigMap',
      resource: 'configmaps',
      object: sampleConfigMap(index, 'default'),
    }),
  );
  const reports: Report[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${reviews} admission reviews, round ${round + 1} of ${rounds}`);
    const args = subjectArguments(scene, { folder });
    await using bowline = new SubjectProcess(scene.command('bowline-webhook'), args);
    await using bare = new SubjectProcess(scene.command('bare-webhook'), args);
    const [ours, theirs] = [await bowline.next(startTimeoutMs), await bare.next(startTimeoutMs)];
    const served = (report: Report) => ({ port: numberIn(report, 'port'), path: String(report.path) });
    reports.push(await callWebhooks(scene, { folder, reviews, bodies, bowline: served(ours), bare: served(theirs) }));
  }
  return (['P50', 'P99'] as const).map((percentile) =>
    judgedMeasure({
      id: `webhook-${percentile.toLowerCase()}`,
      title: `admission review latency, ${percentile.toLowerCase()}`,
      unit: 'ms',
      subjects: [
        measured('bowline', 'Bowline webhook server', each(reports, `bowline${percentile}`)),
        measured('bare', 'bare node:https server with a constant response', each(reports, `bare${percentile}`)),
      ],
    }),
  );
}

function each(reports: readonly Report[], field: string): readonly number[] {
  return reports.map((report) => numberIn(report, field));
}
