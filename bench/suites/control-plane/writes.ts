import { type Measure, measured } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { Api } from '../../support/api.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { startRawWriter } from '../../support/raw-writes.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import type { ControlPlaneScene } from './scene.ts';
import { onOneCore, openEmbedded, type Server } from './servers.ts';
import { smallConfigMap } from './small-config-map.ts';

const timeoutMs = 120_000;
/** Enough that the server is never idle. */
const inFlight = 32;
const namespace = 'bench-writes';
const phases = ['create', 'update'] as const;
/** How many admission policies the writer `policies` creates. */
const POLICIES = 10;

type Phase = (typeof phases)[number];

interface Batch {
  readonly perSecond: number;
  /** Processor time of the server per write; in process, of the whole program. */
  readonly cpuUs: number;
}

type Batches = Readonly<Record<Phase, Batch>>;

const writers = [
  { id: 'in-process', label: 'embedded, in process, on one core' },
  { id: 'settled', label: 'embedded, in process, while its controllers watch' },
  { id: 'policies', label: `the same with ${POLICIES} admission policies that do not match` },
  { id: 'embedded', label: 'embedded, over HTTPS, server on one core' },
  { id: 'kubernetes', label: 'Kubernetes, over HTTPS, on all cores' },
] as const;

/** writes measures how many small objects a warmed-up server creates and updates per second. */
export async function writes(scene: ControlPlaneScene): Promise<readonly Measure[]> {
  const { writeRounds: rounds } = scene.plan;
  const taken = new Map<string, Batches[]>(writers.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${scene.plan.writes} creates and updates, round ${round + 1} of ${rounds}`);
    for (const { id } of rotate(writers, round)) taken.get(id)?.push(await runWriter(scene, id, round));
  }
  const subjects = (value: (batches: Batches) => number) =>
    writers.map(({ id, label }) => measured(id, label, (taken.get(id) ?? []).map(value)));
  return phases.flatMap((phase) => [
    judgedMeasure(
      {
        id: `writes-${phase}`,
        title: `small writes per second, ${phase}`,
        unit: 'writes/s',
        subjects: subjects((batches) => batches[phase].perSecond),
      },
      (['in-process', 'embedded'] as const).map((subject) => ({
        id: `writes-${phase}-${subject}`,
        subject,
        bound: 'at least',
        limit: 3_000,
      })),
    ),
    judgedMeasure(
      {
        id: `writes-${phase}-cpu`,
        title: `processor time of the server per write, ${phase}`,
        unit: 'µs',
        subjects: subjects((batches) => batches[phase].cpuUs),
      },
      [{ id: `writes-${phase}-policies`, subject: 'policies', against: 'settled', bound: 'at most', limit: 1.05 }],
    ),
  ]);
}

async function runWriter(
  scene: ControlPlaneScene,
  id: (typeof writers)[number]['id'],
  round: number,
): Promise<Batches> {
  if (id === 'in-process') return await writeInProcess(scene, round, {});
  if (id === 'settled') return await writeInProcess(scene, round, { settles: true });
  if (id === 'policies') return await writeInProcess(scene, round, { settles: true, policies: POLICIES });
  if (id === 'kubernetes') return await writeOverHttps(scene, scene.real, round);
  await using server = await openEmbedded(scene, 'embedded-writes', onOneCore(scene.command('embedded-server')));
  return await writeOverHttps(scene, server, round);
}

interface InProcessOptions {
  /** The number of admission policies. Defaults to 0. */
  readonly policies?: number;
  /**
   * Whether the writes begin after the controllers have started: sequential writes in one process do not let them run, while
   * creating a policy does. Defaults to false.
   */
  readonly settles?: boolean;
}

async function writeInProcess(scene: ControlPlaneScene, round: number, options: InProcessOptions): Promise<Batches> {
  const { writes: count } = scene.plan;
  const command = onOneCore(scene.command('embedded-writes'));
  await using running = new SubjectProcess(
    command,
    subjectArguments(scene, { writes: count, policies: options.policies ?? 0, settles: options.settles ? 1 : 0 }),
  );
  await running.next(timeoutMs);
  return await twice(async (phase, name) => {
    running.send(`${phase} ${name} ${phase}-${round}`);
    const report = await running.next(timeoutMs);
    return batchOf(count, report, numberIn(report, 'cpuMs'));
  });
}

async function writeOverHttps(scene: ControlPlaneScene, server: Server, round: number): Promise<Batches> {
  const { writes: count } = scene.plan;
  {
    await using api = new Api(server.scene.connection);
    await createNamespaces(api, [namespace]);
  }
  const targets = Array.from({ length: count }, (_, index) => ({ namespace, suffix: `-${round}-${index}` }));
  const template = smallConfigMap({}, '');
  await using writer = await startRawWriter(server.scene, { targets, template, inFlight, style: 'replace' });
  return await twice(async (phase, name) => {
    const before = server.cpuMs();
    const report = await writer.write(phase, name, `${phase}-${round}`);
    return batchOf(count, report, server.cpuMs() - before);
  });
}

/** twice writes every batch twice, with different names: the first time warms up the server, the second one counts. */
async function twice(write: (phase: Phase, name: string) => Promise<Batch>): Promise<Batches> {
  for (const phase of phases) await write(phase, 'first');
  return { create: await write('create', 'again'), update: await write('update', 'again') };
}

function batchOf(count: number, report: Report, cpuMs: number): Batch {
  return { perSecond: (count * 1_000) / numberIn(report, 'ms'), cpuUs: (cpuMs * 1_000) / count };
}
