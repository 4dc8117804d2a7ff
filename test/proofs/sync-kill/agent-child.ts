// The agent process that the sync-kill proof kills: it runs the sync engine over a data folder, as its task says.
import { createReadStream, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BlobSource } from '../../../operators/ignition-sync/src/engine/sync/blob-source.ts';
import { SyncEngine } from '../../../operators/ignition-sync/src/engine/sync/sync-engine.ts';
import { SyncError } from '../../../operators/ignition-sync/src/engine/sync-error.ts';
import { desiredTree } from '../../../operators/ignition-sync/src/engine/tree/desired-tree.ts';
import { VARIABLES } from '../sync-tree/random-settings.ts';
import type { ChildResult, ChildTask } from './child-task.ts';

const task = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as ChildTask;
const { kill, settings } = task;

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

let occurrences = 0;
function onStep(step: string): void {
  if (kill === undefined || !('step' in kill) || kill.step !== step) return;
  if (occurrences++ === kill.occurrence) die();
}

let received = 0;
/** Chunks of odd sizes, so that a kill can happen at every byte. */
const CHUNK_BYTES = 1_021;

const blobs: BlobSource = {
  async prepare(ids) {
    return new Map(
      await Promise.all([...ids].map(async (id) => [id, (await stat(join(task.blobs, id))).size] as const)),
    );
  },
  async *open(id) {
    for await (const chunk of createReadStream(join(task.blobs, id), { highWaterMark: CHUNK_BYTES })) {
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

async function run(): Promise<ChildResult> {
  await using engine = new SyncEngine({ dataFolder: task.data, holder: 'pod', hooks: { onStep } });
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
  const { commit } = task;
  const result = await engine.sync({ commit, ref: 'main', settingsHash: 'x', tree, blobs, prune });
  // The gateway's part: it has scanned.
  await engine.markLoaded();
  return { isLoaded: result.isLoaded, changes: result.changes.length, recovered: result.recovery.outcome };
}

try {
  console.log(JSON.stringify(await run()));
} catch (error) {
  if (!(error instanceof SyncError)) throw error;
  console.log(JSON.stringify({ refused: error.message } satisfies ChildResult));
}
