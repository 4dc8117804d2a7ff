import { setTimeout as pause } from 'node:timers/promises';
import { inParallel } from '../../support/api.ts';
import { sampleConfigMap } from '../../support/config-maps.ts';
import type { Subject } from '../../support/run-subject.ts';
import { SubjectProcess } from '../../support/subject-process.ts';
import { CopyWatch } from './copy-watch.ts';
import { namespaceName, setLabel } from './namespaces.ts';
import type { SyncScene } from './scene.ts';

/** sourceNamespace is where sources and their ConfigMapSyncs are. */
export const sourceNamespace = 'bench-source';

const sources = `/api/v1/namespaces/${sourceNamespace}/configmaps`;
const syncs = `/apis/sync.bowline.dev/v1/namespaces/${sourceNamespace}/configmapsyncs`;
const startTimeoutMs = 120_000;
const deletesInFlight = 32;

/** The number of the next run: every run has names of its own. */
let runs = 0;

/** SyncRun is one operator at work on one source, and what watches its copies. */
export interface SyncRun extends AsyncDisposable {
  /** The name of the copies. */
  readonly name: string;
  readonly operator: SubjectProcess;
  /** create makes the ConfigMapSync and answers how long it took until every copy was there. */
  create(): Promise<number>;
  /** edit changes the source to a revision and answers how long it took until every copy had it. */
  edit(revision: string): Promise<number>;
  /** settled waits until the operator says that everything is done. */
  settled(): Promise<void>;
}

/** openRun makes a source, starts the operator and waits until it works; disposing ends it and removes all that it made. */
export async function openRun(scene: SyncScene, subject: Subject, copies: number): Promise<SyncRun> {
  const { api } = scene;
  runs += 1;
  const name = `${subject.id}-${runs}`;
  const { data } = sampleConfigMap(runs, sourceNamespace);
  const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `source-${name}` }, data };
  await api.ok('POST', sources, { ...source, data: { ...data, revision: 'r1' } });
  const watch = new CopyWatch(scene.connection, name);
  await watch.synced();
  const operator = new SubjectProcess(subject.command, subject.args);
  const run: SyncRun = {
    name,
    operator,
    async create() {
      const start = performance.now();
      await api.ok('POST', syncs, {
        apiVersion: 'sync.bowline.dev/v1',
        kind: 'ConfigMapSync',
        metadata: { name },
        spec: {
          sourceNamespace,
          configMapName: source.metadata.name,
          destinationSelector: { matchLabels: { [setLabel(copies)]: 'true' } },
          targetName: name,
        },
      });
      return (await watch.reached('r1', copies)) - start;
    },
    async edit(revision) {
      const start = performance.now();
      const path = `${sources}/${source.metadata.name}?fieldManager=bowline-bench`;
      await api.ok('PATCH', path, { data: { revision } }, 'application/merge-patch+json');
      return (await watch.reached(revision, copies)) - start;
    },
    async settled() {
      const deadline = performance.now() + startTimeoutMs;
      for (;;) {
        const { status } = JSON.parse(await api.ok('GET', `${syncs}/${name}`)) as { status?: { syncedCount?: number } };
        if (status?.syncedCount === copies) return;
        if (performance.now() > deadline) throw new Error(`${subject.label} stays at ${JSON.stringify(status)}`);
        await pause(50);
      }
    },
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await operator.release();
      // Nobody is left to do what the finalizer waits for.
      const free = { metadata: { finalizers: null } };
      await api.ok('PATCH', `${syncs}/${name}`, free, 'application/merge-patch+json', [404]);
      await api.ok('DELETE', `${syncs}/${name}`, undefined, undefined, [404]);
      await api.ok('DELETE', `${sources}/${source.metadata.name}`, undefined, undefined, [404]);
      await deleteCopies(scene, name, copies);
    },
  };
  try {
    await operator.next(startTimeoutMs);
    return run;
  } catch (error) {
    await run[Symbol.asyncDispose]();
    throw error;
  }
}

/** deleteCopies removes the copies of one name from the first namespaces. */
export async function deleteCopies(scene: SyncScene, name: string, copies: number): Promise<void> {
  const indexes = Array.from({ length: copies }, (_, index) => index);
  await inParallel(indexes, deletesInFlight, async (index) => {
    const path = `/api/v1/namespaces/${namespaceName(index)}/configmaps/${name}`;
    await scene.api.ok('DELETE', path, undefined, undefined, [404]);
  });
}

/** readCopy reads one copy as it is stored. */
export function readCopy(scene: SyncScene, name: string): Promise<string> {
  return scene.api.ok('GET', `/api/v1/namespaces/${namespaceName(0)}/configmaps/${name}`);
}
