import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import { type Measure, measured } from '../../result.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, runSubject, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { RuntimeScene } from './scene.ts';

const startTimeoutMs = 60_000;

/** webhook measures one admission through the runtime's webhook server, compared with a TLS server that returns a constant. */
export async function webhook(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { reviews, webhookRounds: rounds } = scene.plan;
  const folder = await issueTo(join(scene.folder, 'webhook'));
  const reports: Report[] = [];
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${reviews} admission reviews, round ${round + 1} of ${rounds}`);
    const args = subjectArguments(scene, { folder });
    await using bowline = new SubjectProcess(scene.command('bowline-webhook'), args);
    await using bare = new SubjectProcess(scene.command('bare-webhook'), args);
    const [ours, theirs] = [await bowline.next(startTimeoutMs), await bare.next(startTimeoutMs)];
    const callerArgs = subjectArguments(scene, {
      folder,
      reviews,
      bowlinePort: numberIn(ours, 'port'),
      bowlinePath: String(ours.path),
      barePort: numberIn(theirs, 'port'),
      barePath: String(theirs.path),
    });
    const caller = { id: 'caller', label: 'caller', command: scene.command('webhook-caller'), args: callerArgs };
    reports.push((await runSubject(caller, 0)).report);
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

/** issueTo writes a certificate for loopback and its CA into a folder. */
async function issueTo(folder: string): Promise<string> {
  const authority = await createCertificateAuthority({ commonName: 'bowline-bench' });
  const leaf = await issueCertificate({
    authority,
    commonName: 'webhook',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'ca.crt'), authority.certificatePem);
  writeFileSync(join(folder, 'tls.crt'), leaf.certificatePem);
  writeFileSync(join(folder, 'tls.key'), leaf.keyPem, { mode: 0o600 });
  return folder;
}
