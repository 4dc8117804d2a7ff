import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobSource } from '../../../operators/ignition-sync/src/engine/sync/blob-source.ts';
import { SyncEngine } from '../../../operators/ignition-sync/src/engine/sync/sync-engine.ts';
import { SyncError } from '../../../operators/ignition-sync/src/engine/sync-error.ts';
import { desiredTree } from '../../../operators/ignition-sync/src/engine/tree/desired-tree.ts';
import { VARIABLES } from '../sync-tree/random-settings.ts';
import type { ChildResult, ChildTask } from './child-task.ts';

/** Chunks of an odd size, so that a kill can happen at every byte. */
const CHUNK_BYTES = 1_021;

/** runTask runs the sync engine over a data folder, as a task says. `die` ends the process at the place of the task. */
export async function runTask(task: ChildTask, die: () => void): Promise<ChildResult> {
  const { kill, settings, commit } = task;
  let occurrences = 0;
  const onStep = (step: string): void => {
    if (kill === undefined || !('step' in kill) || kill.step !== step) return;
    if (occurrences++ === kill.occurrence) die();
  };
  await using engine = new SyncEngine({ dataFolder: task.data, holder: 'pod', hooks: { onStep } });
  try {
    if (task.recoverOnly) return { recovered: (await engine.recover()).outcome };
    const { mappings, patterns: excludePatterns, systemName, fields, prune } = settings;
    const names = await engine.names();
    const tree = desiredTree(task.listing, {
      mappings,
      excludePatterns,
      systemName,
      fields,
      variables: VARIABLES,
      names,
    });
    const blobs = fileBlobs(task, die);
    const result = await engine.sync({ commit, ref: 'main', settingsHash: 'x', tree, blobs, prune });
    // The gateway's part: it has scanned.
    await engine.markLoaded();
    return { isLoaded: result.isLoaded, changes: result.changes.length, recovered: result.recovery.outcome };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { refused: error.message };
  }
}

function fileBlobs({ blobs, kill }: ChildTask, die: () => void): BlobSource {
  let received = 0;
  return {
    async prepare(ids) {
      return new Map(await Promise.all([...ids].map(async (id) => [id, (await stat(join(blobs, id))).size] as const)));
    },
    async *open(id) {
      for await (const chunk of createReadStream(join(blobs, id), { highWaterMark: CHUNK_BYTES })) {
        const bytes = chunk as Buffer;
        received += bytes.length;
        if (kill !== undefined && 'byte' in kill && received > kill.byte) {
          yield bytes.subarray(0, bytes.length - (received - kill.byte));
          die();
        }
        yield bytes;
      }
    },
  };
}
