import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { Api } from '../../support/api.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, runSubject, subjectArguments } from '../../support/run-subject.ts';
import { filledNamespace } from './memory.ts';
import type { ControlPlaneScene } from './scene.ts';
import type { Server } from './servers.ts';

/** watchers measures how long a write takes to reach all of many watches. */
export async function watchers(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { watches, watchedWrites, watchRounds: rounds } = scene.plan;
  const found = await askBoth(scene, rounds, async (server, round) => {
    scene.log(`${watches} watches, round ${round + 1} of ${rounds}: ${server.label}`);
    const namespace = `bench-watch-${round}`;
    await using api = new Api(server.scene.connection);
    await createNamespaces(api, [namespace]);
    return await runBare(server, 'bare-fan-out', { watches, writes: watchedWrites, namespace });
  });
  return (['p50', 'p99'] as const).map((percentile) =>
    judgedMeasure(
      {
        id: `watchers-${percentile}`,
        title: `a write reaches ${watches} watches, ${percentile}`,
        unit: 'ms',
        subjects: found((report) => numberIn(report, percentile)),
      },
      // The slowest of a few hundred are those disturbed by something else.
      percentile === 'p99'
        ? []
        : [{ id: 'watchers', subject: 'embedded', against: 'kubernetes', bound: 'at most', limit: 1 }],
    ),
  );
}

/** list measures a list of one of the namespaces that `memory` filled. */
export async function list(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { lists, listRounds: rounds, objects, namespaces } = scene.plan;
  const wanted = objects / namespaces;
  const found = await askBoth(scene, rounds, async (server, round) => {
    scene.log(`list of ${wanted} ConfigMaps, round ${round + 1} of ${rounds}: ${server.label}`);
    const report = await runBare(server, 'bare-lists', { lists, namespace: filledNamespace(0) });
    // Every namespace has a ConfigMap with the root certificate.
    if (numberIn(report, 'objects') < wanted)
      throw new Error(`${server.label} listed ${String(report.objects)} objects`);
    return report;
  });
  return [
    judgedMeasure(
      {
        id: 'list',
        title: `list of ${wanted.toLocaleString('en-US')} ConfigMaps`,
        unit: 'ms',
        subjects: found((report) => numberIn(report, 'p50')),
      },
      [{ id: 'list', subject: 'embedded', against: 'kubernetes', bound: 'at most', limit: 1 }],
    ),
    judgedMeasure({
      id: 'list-size',
      title: 'size of that list',
      unit: 'kB',
      subjects: found((report) => numberIn(report, 'kilobytes')),
    }),
  ];
}

async function runBare(
  server: Server,
  name: string,
  options: Readonly<Record<string, number | string>>,
): Promise<Report> {
  const { scene } = server;
  const subject = { id: name, label: name, command: scene.command(name), args: subjectArguments(scene, options) };
  return (await runSubject(subject, 0)).report;
}

/** askBoth measures both servers in every round, alternating which one is first. */
async function askBoth(
  scene: ControlPlaneScene,
  rounds: number,
  ask: (server: Server, round: number) => Promise<Report>,
): Promise<(value: (report: Report) => number) => readonly SubjectResult[]> {
  const servers = [scene.embedded, scene.real];
  const reports = new Map<Server, Report[]>(servers.map((server) => [server, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const server of rotate(servers, round)) reports.get(server)?.push(await ask(server, round));
  }
  return (value) => servers.map((server) => measured(server.id, server.label, (reports.get(server) ?? []).map(value)));
}
