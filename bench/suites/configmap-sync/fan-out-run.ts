import { setTimeout as pause } from 'node:timers/promises';
import type { Memory } from '../../support/process-usage.ts';
import { startRawWriter } from '../../support/raw-writes.ts';
import { countRequests, WRITES } from '../../support/request-counts.ts';
import { numberIn, type Subject, startSubject } from '../../support/run-subject.ts';
import type { SubjectProcess } from '../../support/subject-process.ts';
import { watchCopies } from './copy-watch.ts';
import { namespaceName } from './namespaces.ts';
import { inFlight, type SyncScene } from './scene.ts';
import { deleteCopies, openSync, readCopy } from './sync-run.ts';

/** Written is the cost of writing all copies. */
export interface Written {
  /** From the request that creates the ConfigMapSync until the last copy is observed. */
  readonly createMs: number;
  /** From the request that changes the source until the last copy is observed to have changed. */
  readonly updateMs: number;
  /** Processor time of the writer, including work after the last copy. */
  readonly createCpuMs: number;
  readonly updateCpuMs: number;
  /** Requests for ConfigMaps per copy, as counted by the API server; undefined for the raw loop. */
  readonly createRequests?: number;
  readonly updateRequests?: number;
}

/** FanOut is the result of one process. */
export interface FanOut {
  /** The first source and its copies since the process started. */
  readonly first: Written;
  /** Another source and its copies, after the process has done the same before. */
  readonly again: Written | undefined;
  /** The operator's memory after the first; undefined for the raw loop. */
  readonly memory: Memory | undefined;
}

/** FanOutOptions configures how much is written. */
export interface FanOutOptions {
  readonly copies: number;
  /** Whether to add a second source. */
  readonly again: boolean;
}

/** Long enough for the work after the last copy: the status, and the effects of the copies' own events. */
const restMs = 500;

/** Requests for single ConfigMaps. */
const single = { resources: ['configmaps'], verbs: ['GET', ...WRITES] };

/** runFanOut runs an operator from its start through the creation and one change of all copies. */
export async function runFanOut(scene: SyncScene, subject: Subject, options: FanOutOptions): Promise<FanOut> {
  const { copies, again } = options;
  await using firstSync = await openSync(scene, copies);
  await using againSync = again ? await openSync(scene, copies) : undefined;
  await using operator = await startSubject(subject);
  const first = await writeBoth(scene, operator, firstSync, copies);
  const memory = operator.memory();
  scene.known.copyBytes[subject.id] = withoutManagedFields(await readCopy(scene, firstSync.name)).length;
  return { first, again: againSync && (await writeBoth(scene, operator, againSync, copies)), memory };
}

async function writeBoth(
  { api }: SyncScene,
  operator: SubjectProcess,
  sync: Awaited<ReturnType<typeof openSync>>,
  copies: number,
): Promise<Written> {
  const soFar = async () => ({ requests: await countRequests(api, single), cpuMs: operator.cpuMs() });
  const atStart = await soFar();
  const createMs = await sync.create();
  await sync.settled();
  await pause(restMs);
  const afterCreate = await soFar();
  const updateMs = await sync.edit('r2');
  await sync.settled();
  await pause(restMs);
  const afterUpdate = await soFar();
  return {
    createMs,
    updateMs,
    createCpuMs: afterCreate.cpuMs - atStart.cpuMs,
    updateCpuMs: afterUpdate.cpuMs - afterCreate.cpuMs,
    createRequests: (afterCreate.requests - atStart.requests) / copies,
    updateRequests: (afterUpdate.requests - afterCreate.requests) / copies,
  };
}

/**
 * runRaw writes objects of the size of Bowline's copies, with as many requests in flight and nothing else. The harness watches
 * them too, so that the server and the machine have the same load.
 */
export async function runRaw(scene: SyncScene, { copies, again }: FanOutOptions): Promise<FanOut> {
  const { copy } = scene.known;
  if (copy === undefined) throw new Error('no copy was observed yet');
  await using writer = await startRawWriter(scene, {
    targets: Array.from({ length: copies }, (_, index) => ({ namespace: namespaceName(index) })),
    template: copy,
    inFlight,
    style: 'replace',
  });
  const writeAll = async (name: string): Promise<Written> => {
    using watch = watchCopies(scene.connection, name);
    await watch.synced();
    try {
      const created = await writer.write('create', name, 'r1');
      await pause(restMs);
      const updated = await writer.write('update', name, 'r2');
      await watch.reached('r2', copies);
      return {
        createMs: numberIn(created, 'ms'),
        createCpuMs: numberIn(created, 'cpuMs'),
        updateMs: numberIn(updated, 'ms'),
        updateCpuMs: numberIn(updated, 'cpuMs'),
      };
    } finally {
      await deleteCopies(scene, name, copies);
    }
  };
  const first = await writeAll('raw');
  return { first, again: again ? await writeAll('raw-again') : undefined, memory: undefined };
}

function withoutManagedFields(stored: string): string {
  const object = JSON.parse(stored) as { metadata: { managedFields?: unknown } };
  return JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
}
