import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@bowline/machinery';
import type { Measure } from '../../result.ts';
import { watchListPath } from '../../support/bare-watch.ts';
import { type Connection, openSession } from '../../support/connection.ts';
import { judgedMeasure, runRounds } from '../../support/rounds.ts';
import { numberIn, type Subject, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { RuntimeScene } from './scene.ts';

/** Higher than any version in the recorded snapshot. */
const firstVersion = 1_000_000_000;

/** eventRate measures how many updates per second a reader consumes from a stream that is always ahead of it. */
export async function eventRate(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { plan } = scene;
  const recordedFile = join(scene.folder, 'recorded.jsonl');
  await recordSnapshot(scene.connection, recordedFile);
  const authority = await createCertificateAuthority({ commonName: 'bowline-bench' });
  const { certificatePem, keyPem } = await issueCertificate({
    authority,
    commonName: 'replay',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const certFile = join(scene.folder, 'replay.crt');
  const keyFile = join(scene.folder, 'replay.key');
  writeFileSync(certFile, certificatePem);
  writeFileSync(keyFile, keyPem, { mode: 0o600 });

  const serverOptions = { recordedFile, certFile, keyFile, events: plan.events, firstVersion };
  await using server = new SubjectProcess(scene.command('replay-server'), subjectArguments(scene, serverOptions));
  const port = numberIn(await server.next(60_000), 'port');
  const replay = pointTo(scene, `https://127.0.0.1:${port}`, authority.certificatePem);

  const args = subjectArguments(replay, { lastVersion: firstVersion + plan.events - 1 });
  const subjects: readonly Subject[] = [
    { id: 'bowline', label: 'Bowline informer', command: scene.command('bowline-events'), args },
    { id: 'bare', label: 'bare node:http2 loop', command: scene.command('bare-events'), args },
  ];
  const outcomes = await runRounds(subjects, {
    rounds: plan.eventRounds,
    restMs: 0,
    announce: (round) => scene.log(`${plan.events} watch events, round ${round + 1} of ${plan.eventRounds}`),
    verify: ({ label }, { report }) => {
      const seen = numberIn(report, 'events');
      if (seen !== plan.events) throw new Error(`${label} saw ${seen} of ${plan.events} events`);
    },
  });
  return [
    judgedMeasure(
      {
        id: 'event-rate',
        title: 'watch events decoded and delivered',
        unit: 'events/s',
        subjects: outcomes.results(({ report }) => (plan.events / numberIn(report, 'elapsedMs')) * 1_000),
      },
      [{ id: 'event-rate', subject: 'bowline', bound: 'at least', limit: 5_000 }],
    ),
    judgedMeasure({
      id: 'event-cost',
      title: 'processor time per watch event',
      unit: 'µs',
      subjects: outcomes.results(({ report }) => (numberIn(report, 'cpuMs') / plan.events) * 1_000),
    }),
  ];
}

/** recordSnapshot records the watch lines of the real server's ConfigMaps. */
async function recordSnapshot(connection: Connection, file: string): Promise<void> {
  const session = openSession(connection);
  const stream = session.request({ ':path': watchListPath('/api/v1/configmaps'), accept: 'application/json' });
  const lines: string[] = [];
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      if (line.startsWith('{"type":"ADDED"')) lines.push(line);
      else stream.close();
    }
  });
  await once(stream, 'close');
  session.destroy();
  writeFileSync(file, lines.join('\n'));
}

/** pointTo returns the same scene with another server and its own connection files. */
function pointTo(scene: RuntimeScene, server: string, ca: string): RuntimeScene {
  const connection = { ...scene.connection, server, ca };
  const connectionFile = join(scene.folder, 'replay-connection.json');
  const kubeconfig = join(scene.folder, 'replay-kubeconfig');
  writeFileSync(connectionFile, JSON.stringify(connection), { mode: 0o600 });
  // JSON is YAML.
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'replay', cluster: { server, 'certificate-authority-data': base64(ca) } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'replay', context: { cluster: 'replay', user: 'nobody' } }],
    'current-context': 'replay',
  };
  writeFileSync(kubeconfig, JSON.stringify(content), { mode: 0o600 });
  return { ...scene, connection, connectionFile, kubeconfig };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
