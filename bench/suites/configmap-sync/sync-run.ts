import { setTimeout as pause } from 'node:timers/promises';
import { inParallel } from '../../support/api.ts';
import { sampleConfigMap } from '../../support/config-maps.ts';
import { watchCopies } from './copy-watch.ts';
import { namespaceName, setLabel } from './namespaces.ts';
import type { SyncScene } from './scene.ts';

/** sourceNamespace is the namespace of sources and their ConfigMapSyncs. */
export const sourceNamespace = 'bench-source';

const sources = `/api/v1/namespaces/${sourceNamespace}/configmaps`;
const syncs = `/apis/sync.bowline.dev/v1/namespaces/${sourceNamespace}/configmapsyncs`;
const mergePatch = 'application/merge-patch+json';
const settleTimeoutMs = 120_000;
const deletesInFlight = 32;

/** The number of sources so far: each has its own names. */
let count = 0;

/** Sync is one source, its requested copies, and their watch. */
export interface Sync extends AsyncDisposable {
  /** The name of the copies, and of the ConfigMapSync. */
  readonly name: string;
  /** create creates the ConfigMapSync and returns how long it took until every copy existed. */
  create(): Promise<number>;
  /** edit changes the source to a revision and returns how long it took until every copy had it. */
  edit(revision: string): Promise<number>;
  /** settled waits until the operator reports that everything is done. */
  settled(): Promise<void>;
}

/** openSync creates a source and watches its copies. Dispose of it when no operator runs any more: it removes everything. */
export async function openSync(scene: SyncScene, copies: number): Promise<Sync> {
  const { api } = scene;
  count += 1;
  const name = `sync-${count}`;
  const source = `source-${count}`;
  const { data } = sampleConfigMap(count, sourceNamespace);
  await api.ok('POST', sources, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: source },
    data: { ...data, revision: 'r1' },
  });
  const watch = watchCopies(scene.connection, name);
  await watch.synced();
  return {
    name,
    async create() {
      const start = performance.now();
      await api.ok('POST', syncs, {
        apiVersion: 'sync.bowline.dev/v1',
        kind: 'ConfigMapSync',
        metadata: { name },
        spec: {
          sourceNamespace,
          configMapName: source,
          destinationSelector: { matchLabels: { [setLabel(copies)]: 'true' } },
          targetName: name,
        },
      });
      return (await watch.reached('r1', copies)) - start;
    },
    async edit(revision) {
      const start = performance.now();
      await api.ok('PATCH', `${sources}/${source}?fieldManager=bowline-bench`, { data: { revision } }, mergePatch);
      return (await watch.reached(revision, copies)) - start;
    },
    async settled() {
      const deadline = performance.now() + settleTimeoutMs;
      for (;;) {
        const { status } = JSON.parse(await api.ok('GET', `${syncs}/${name}`)) as { status?: { syncedCount?: number } };
        if (status?.syncedCount === copies) return;
        if (performance.now() > deadline) throw new Error(`the status stays at ${JSON.stringify(status)}`);
        await pause(50);
      }
    },
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      // No operator is left to handle the finalizer.
      await api.ok('PATCH', `${syncs}/${name}`, { metadata: { finalizers: null } }, mergePatch, [404]);
      await api.ok('DELETE', `${syncs}/${name}`, undefined, undefined, [404]);
      await api.ok('DELETE', `${sources}/${source}`);
      await deleteCopies(scene, name, copies);
    },
  };
}

/** deleteCopies removes the copies of one name from the first namespaces. */
export async function deleteCopies(scene: SyncScene, name: string, copies: number): Promise<void> {
  const indexes = Array.from({ length: copies }, (_, index) => index);
  await inParallel(indexes, deletesInFlight, async (index) => {
    const path = `/api/v1/namespaces/${namespaceName(index)}/configmaps/${name}`;
    await scene.api.ok('DELETE', path, undefined, undefined, [404]);
  });
}

/** readCopy returns one copy as stored. */
export function readCopy(scene: SyncScene, name: string): Promise<string> {
  return scene.api.ok('GET', `/api/v1/namespaces/${namespaceName(0)}/configmaps/${name}`);
}
