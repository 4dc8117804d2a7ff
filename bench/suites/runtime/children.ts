import { type Measure, measured, type SubjectResult } from '../../result.ts';
import { rotate } from '../../statistics.ts';
import { Api } from '../../support/api.ts';
import { createNamespaces } from '../../support/config-maps.ts';
import { asWritten, startRawWriter, type WrittenConfigMap } from '../../support/raw-writes.ts';
import { judgedMeasure } from '../../support/rounds.ts';
import { numberIn, runSubject, subjectArguments } from '../../support/run-subject.ts';
import { batchLabel } from './batch.ts';
import type { RuntimeScene } from './scene.ts';

/** What the runtime's own connection has in flight by default. */
const inFlight = 32;
const batches = '/apis/bench.bowline.dev/v1';

const writers = [
  { id: 'apply', label: 'Bowline, apply' },
  { id: 'ensure', label: 'Bowline, ensure' },
  { id: 'raw', label: 'bare node:http2 loop, create and replace' },
  { id: 'raw-apply', label: 'bare node:http2 loop, server-side apply' },
] as const;

interface Times {
  readonly createMs: number;
  readonly updateMs: number;
  /** The client's processor time. */
  readonly createCpuMs: number;
  readonly updateCpuMs: number;
}

/** children measures one reconcile that writes many objects, beside the same writes without anything around them. */
export async function children(scene: RuntimeScene): Promise<readonly Measure[]> {
  const { children: count, childRounds: rounds } = scene.plan;
  await using api = new Api(scene.connection);
  // One run that does not count: it installs the kind, and leaves a child to copy.
  const template = await (async () => {
    await using run = await openNamespace(api, 'bench-children-first');
    await runBowline(scene, run.namespace, 'apply', count);
    const stored = await api.ok('GET', `/api/v1/namespaces/${run.namespace}/configmaps/batch-0`);
    return asWritten(stored);
  })();
  const times = new Map<string, Times[]>(writers.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    scene.log(`${count} children of one reconcile, round ${round + 1} of ${rounds}`);
    for (const { id } of rotate(writers, round)) {
      await using run = await openNamespace(api, `bench-children-${id}-${round}`);
      times
        .get(id)
        ?.push(
          id === 'apply' || id === 'ensure'
            ? await runBowline(scene, run.namespace, id, count)
            : await runRaw(scene, api, run.namespace, id === 'raw' ? 'replace' : 'apply', count, template),
        );
      await verify(api, run.namespace, count);
    }
  }
  const subjects = (value: (each: Times) => number): readonly SubjectResult[] =>
    writers.map(({ id, label }) => measured(id, label, (times.get(id) ?? []).map(value)));
  const title = `${count.toLocaleString('en-US')} children of one reconcile`;
  return (['create', 'update'] as const).flatMap((phase) => [
    judgedMeasure(
      {
        id: `children-${phase}`,
        title: `${title}, ${phase}`,
        unit: 'ms',
        subjects: subjects((each) => each[`${phase}Ms`]),
      },
      (['apply', 'ensure'] as const).map((subject) => ({
        id: `children-${phase}-${subject}`,
        subject,
        against: 'raw',
        bound: 'at most',
        limit: 1.2,
      })),
    ),
    judgedMeasure({
      id: `children-${phase}-cpu`,
      title: `processor time of the writer, ${phase}`,
      unit: 'ms',
      subjects: subjects((each) => each[`${phase}CpuMs`]),
    }),
  ]);
}

interface Run extends AsyncDisposable {
  readonly namespace: string;
}

/** openNamespace makes a fresh namespace and empties it in the end, the children before their owner, so that no garbage collector works in the next run. */
async function openNamespace(api: Api, namespace: string): Promise<Run> {
  await createNamespaces(api, [namespace]);
  return {
    namespace,
    async [Symbol.asyncDispose]() {
      await api.ok('DELETE', `${childrenIn(namespace)}`);
      await api.ok('DELETE', `${batches}/namespaces/${namespace}/batches/batch`, undefined, undefined, [404]);
    },
  };
}

async function runBowline(scene: RuntimeScene, namespace: string, verb: string, count: number): Promise<Times> {
  const { report } = await runSubject(
    {
      id: verb,
      label: verb,
      command: scene.command('bowline-children'),
      args: subjectArguments(scene, { namespace, verb, children: count }),
    },
    0,
  );
  return {
    createMs: numberIn(report, 'createMs'),
    updateMs: numberIn(report, 'updateMs'),
    createCpuMs: numberIn(report, 'createCpuMs'),
    updateCpuMs: numberIn(report, 'updateCpuMs'),
  };
}

async function runRaw(
  scene: RuntimeScene,
  api: Api,
  namespace: string,
  style: 'replace' | 'apply',
  count: number,
  template: WrittenConfigMap,
): Promise<Times> {
  const owner = await api.ok('POST', `${batches}/namespaces/${namespace}/batches`, {
    apiVersion: 'bench.bowline.dev/v1',
    kind: 'Batch',
    metadata: { name: 'batch' },
    spec: { children: count, revision: 'r1' },
  });
  // The owner must be the right one, or the garbage collector would delete what is written.
  const { uid } = (JSON.parse(owner) as { metadata: { uid: string } }).metadata;
  const { metadata } = template;
  const ownerReferences = metadata.ownerReferences?.map((reference) => ({ ...reference, uid }));
  await using writer = await startRawWriter(scene, {
    targets: Array.from({ length: count }, (_, index) => ({ namespace, name: `batch-${index}` })),
    template: { ...template, metadata: { ...metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) } },
    inFlight,
    style,
  });
  const created = await writer.write('create', 'r1');
  const updated = await writer.write('update', 'r2');
  return {
    createMs: numberIn(created, 'ms'),
    updateMs: numberIn(updated, 'ms'),
    createCpuMs: numberIn(created, 'cpuMs'),
    updateCpuMs: numberIn(updated, 'cpuMs'),
  };
}

function childrenIn(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps?labelSelector=${encodeURIComponent(batchLabel)}`;
}

/** verify makes sure that all that was timed has happened. */
async function verify(api: Api, namespace: string, count: number): Promise<void> {
  const { items } = JSON.parse(await api.ok('GET', childrenIn(namespace))) as {
    items: { data: { revision: string } }[];
  };
  const done = items.filter(({ data }) => data.revision === 'r2').length;
  if (done !== count) throw new Error(`${done} of ${count} children in ${namespace} have been written`);
}
