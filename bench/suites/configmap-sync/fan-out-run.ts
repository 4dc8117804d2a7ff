import { setTimeout as pause } from 'node:timers/promises';
import { startRawWriter } from '../../support/raw-writes.ts';
import { numberIn, type Subject } from '../../support/run-subject.ts';
import type { Memory } from '../../support/subject-process.ts';
import { namespaceName } from './namespaces.ts';
import { inFlight, type SyncScene } from './scene.ts';
import { deleteCopies, openRun, readCopy, type SyncRun } from './sync-run.ts';
import { configMapRequests } from './write-requests.ts';

/** FanOut is what one source and its copies cost. */
export interface FanOut {
  /** From the request that asks for the copies until the last one is seen. */
  readonly createMs: number;
  /** From the request that changes the source until the last copy is seen changed. */
  readonly updateMs: number;
  /** Processor time of whoever writes, with what comes after the last copy. */
  readonly createCpuMs: number;
  readonly updateCpuMs: number;
  /** Requests for ConfigMaps per copy, as the API server counted them. */
  readonly createRequests: number;
  readonly updateRequests: number;
  /** The operator's memory, half a second after all was done. */
  readonly memory: Memory;
}

/** Long enough for what comes after the last copy: the status, and what the copies' own events cause. */
const restMs = 500;

/** runFanOut runs an operator from its start through the creation and one change of all copies. */
export async function runFanOut(scene: SyncScene, subject: Subject, copies: number): Promise<FanOut> {
  await using run = await openRun(scene, subject, copies);
  const atStart = await costsSoFar(scene, run);
  const createMs = await run.create();
  await run.settled();
  await pause(restMs);
  const afterCreate = await costsSoFar(scene, run);
  const updateMs = await run.edit('r2');
  await run.settled();
  await pause(restMs);
  const afterUpdate = await costsSoFar(scene, run);
  const stored = await readCopy(scene, run.name);
  scene.known.copyBytes[subject.id] = withoutManagedFields(stored).length;
  return {
    createMs,
    updateMs,
    createCpuMs: afterCreate.cpuMs - atStart.cpuMs,
    updateCpuMs: afterUpdate.cpuMs - afterCreate.cpuMs,
    createRequests: (afterCreate.requests - atStart.requests) / copies,
    updateRequests: (afterUpdate.requests - afterCreate.requests) / copies,
    memory: run.operator.memory(),
  };
}

async function costsSoFar({ api }: SyncScene, { operator }: SyncRun): Promise<{ requests: number; cpuMs: number }> {
  return { requests: await configMapRequests(api), cpuMs: operator.cpuMs() };
}

/** RawFanOut is what the raw loop's writes cost. */
export type RawFanOut = Pick<FanOut, 'createMs' | 'updateMs' | 'createCpuMs' | 'updateCpuMs'>;

/** runRaw writes objects as heavy as Bowline's copies, with as many requests in flight and nothing around them. */
export async function runRaw(scene: SyncScene, copies: number): Promise<RawFanOut> {
  const { copy } = scene.known;
  if (copy === undefined) throw new Error('no copy has been seen yet');
  const name = 'raw';
  try {
    await using writer = await startRawWriter(scene, {
      targets: Array.from({ length: copies }, (_, index) => ({ namespace: namespaceName(index), name })),
      template: copy,
      inFlight,
      style: 'replace',
    });
    const created = await writer.write('create', 'r1');
    await pause(restMs);
    const updated = await writer.write('update', 'r2');
    return {
      createMs: numberIn(created, 'ms'),
      createCpuMs: numberIn(created, 'cpuMs'),
      updateMs: numberIn(updated, 'ms'),
      updateCpuMs: numberIn(updated, 'cpuMs'),
    };
  } finally {
    await deleteCopies(scene, name, copies);
  }
}

function withoutManagedFields(stored: string): string {
  const object = JSON.parse(stored) as { metadata: { managedFields?: unknown } };
  return JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } });
}
