import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { Api } from '../../support/api.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { asWritten, startRawWriter, type WrittenObject } from '../../support/raw-writes.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, type Report, subjectArguments } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import { batchLabel } from './batch.ts';
import type { RuntimeScene } from './scene.ts';

/** The default number of requests in flight of the runtime. */
const inFlight = 32;
const timeoutMs = 120_000;

const writers = [
  { id: 'apply', label: 'Bowline, apply' },
  { id: 'ensure', label: 'Bowline, ensure' },
  { id: 'raw', label: 'bare node:http2 loop, create and replace' },
  { id: 'raw-apply', label: 'bare node:http2 loop, server-side apply' },
] as const;

/** Once just after the start, and once after the process has done it before. The owners have these names. */
const occasions = [
  { name: 'first', title: '' },
  { name: 'again', title: ', repeated' },
] as const;

interface Written {
  readonly createMs: number;
  readonly updateMs: number;
  /** The writer's processor time. */
  readonly createCpuMs: number;
  readonly updateCpuMs: number;
}

type Times = Readonly<Record<(typeof occasions)[number]['name'], Written>>;

/** children measures one reconcile that writes many objects, compared with the same writes alone. */
export async function children(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { children: count, childRounds: rounds } = scene.plan;
  await using api = new Api(scene.connection);
  const template = await firstChild(scene, api, count);
  const times = new Map<string, Times[]>(writers.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${count} children of one reconcile, round ${round + 1} of ${rounds}`);
    for (const { id } of rotate(writers, round)) {
      await using run = await openNamespace(api, `bench-children-${id}-${round}`);
      const ours = id === 'apply' || id === 'ensure';
      const style = id === 'raw' ? 'replace' : 'apply';
      const taken = ours
        ? await runBowline(scene, run.namespace, id, count)
        : await runRaw(scene, api, { namespace: run.namespace, style, count, template });
      times.get(id)?.push(taken);
      await verify(api, run.namespace, count);
    }
  }
  const subjects = (value: (each: Times) => number): readonly SubjectResult[] =>
    writers.map(({ id, label }) => measured(id, label, (times.get(id) ?? []).map(value)));
  const title = `${count.toLocaleString('en-US')} children of one reconcile`;
  return occasions.flatMap((occasion) =>
    (['create', 'update'] as const).flatMap((phase) => [
      judgedMeasure(
        {
          id: `children-${phase}-${occasion.name}`,
          title: `${title}, ${phase}${occasion.title}`,
          unit: 'ms',
          subjects: subjects((each) => each[occasion.name][`${phase}Ms`]),
        },
        (['apply', 'ensure'] as const).map((subject) => ({
          id: `children-${phase}-${occasion.name}-${subject}`,
          subject,
          against: 'raw',
          bound: 'at most',
          limit: 1.2,
        })),
      ),
      judgedMeasure({
        id: `children-${phase}-${occasion.name}-cpu`,
        title: `processor time of the writer, ${phase}${occasion.title}`,
        unit: 'ms',
        subjects: subjects((each) => each[occasion.name][`${phase}CpuMs`]),
      }),
    ]),
  );
}

/** firstChild returns a child as Bowline writes it. Its run does not count: it installs the kind and warms the server. */
async function firstChild(scene: RuntimeScene, api: Api, count: number): Promise<WrittenObject> {
  await using run = await openNamespace(api, 'bench-children');
  await runBowline(scene, run.namespace, 'apply', count);
  return asWritten(await api.ok('GET', `/api/v1/namespaces/${run.namespace}/configmaps/first-0`));
}

interface Run extends AsyncDisposable {
  readonly namespace: string;
}

/**
 * openNamespace creates a new namespace and empties it at the end, children before their owners, so that the garbage collector
 * does not disturb the next run.
 */
async function openNamespace(api: Api, namespace: string): Promise<Run> {
  await createNamespaces(api, [namespace]);
  return {
    namespace,
    async [Symbol.asyncDispose]() {
      await api.ok('DELETE', childrenIn(namespace));
      await api.ok('DELETE', batchesIn(namespace), undefined, undefined, [404]);
    },
  };
}

async function runBowline(scene: RuntimeScene, namespace: string, verb: string, count: number): Promise<Times> {
  const args = subjectArguments(scene, { namespace, verb, children: count });
  await using subject = new SubjectProcess(scene.command('bowline-children'), args);
  return { first: writtenIn(await subject.next(timeoutMs)), again: writtenIn(await subject.next(timeoutMs)) };
}

function writtenIn(report: Report): Written {
  return {
    createMs: numberIn(report, 'createMs'),
    updateMs: numberIn(report, 'updateMs'),
    createCpuMs: numberIn(report, 'createCpuMs'),
    updateCpuMs: numberIn(report, 'updateCpuMs'),
  };
}

interface RawOptions {
  readonly namespace: string;
  readonly style: 'replace' | 'apply';
  readonly count: number;
  readonly template: WrittenObject;
}

async function runRaw(scene: RuntimeScene, api: Api, options: RawOptions): Promise<Times> {
  const { namespace, style, count, template } = options;
  const owner = await api.ok('POST', batchesIn(namespace), {
    apiVersion: 'bench.bowline.dev/v1',
    kind: 'Batch',
    metadata: { name: 'raw' },
    spec: { children: count, revision: 'r1' },
  });
  // The owner must exist, or the garbage collector would delete what is written.
  const { uid } = (JSON.parse(owner) as { metadata: { uid: string } }).metadata;
  const { metadata } = template;
  const ownerReferences = metadata.ownerReferences?.map((reference) => ({ ...reference, name: 'raw', uid }));
  await using writer = await startRawWriter(scene, {
    targets: Array.from({ length: count }, (_, index) => ({ namespace, suffix: `-${index}` })),
    template: { ...template, metadata: { ...metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) } },
    inFlight,
    style,
  });
  const writeBoth = async (name: string): Promise<Written> => {
    const created = await writer.write('create', name, 'r1');
    const updated = await writer.write('update', name, 'r2');
    return {
      createMs: numberIn(created, 'ms'),
      updateMs: numberIn(updated, 'ms'),
      createCpuMs: numberIn(created, 'cpuMs'),
      updateCpuMs: numberIn(updated, 'cpuMs'),
    };
  };
  return { first: await writeBoth('first'), again: await writeBoth('again') };
}

function childrenIn(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps?labelSelector=${encodeURIComponent(batchLabel)}`;
}

function batchesIn(namespace: string): string {
  return `/apis/bench.bowline.dev/v1/namespaces/${namespace}/batches`;
}

/** verify checks that everything that was timed has happened. */
async function verify(api: Api, namespace: string, count: number): Promise<void> {
  const { items } = JSON.parse(await api.ok('GET', childrenIn(namespace))) as {
    items: { data: { revision: string } }[];
  };
  const done = items.filter(({ data }) => data.revision === 'r2').length;
  const wanted = count * occasions.length;
  if (done !== wanted) throw new Error(`${done} of ${wanted} children in ${namespace} have been written`);
}
