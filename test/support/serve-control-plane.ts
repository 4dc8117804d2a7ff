import { once } from 'node:events';
import { attachmentOf, startControlPlane } from '@bowline/control-plane';
import type { SharedControlPlane } from '@bowline/control-plane/testing';
import { BowlineError } from '@bowline/runtime';

/** Runs a real control plane until standard input closes; the one line on standard output tells how to attach to it. */
const abort = new AbortController();
const closed = once(process.stdin.resume(), 'end').then(() => abort.abort(new Error('it is no longer needed')));
const tell = (shared: SharedControlPlane): void => {
  process.stdout.write(`${JSON.stringify(shared)}\n`);
};

try {
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    signal: abort.signal,
    onProgress: (line) => console.error(line),
    onCrash: (error) => console.error(`${error.code}: ${error.message}`),
  });
  const { version, timings } = controlPlane;
  console.error(`kubernetes control plane ${version} ready in ${(timings.totalMs / 1000).toFixed(1)} s`);
  tell({ attachment: attachmentOf(controlPlane), isTemporary: true });
  await closed;
} catch (error) {
  if (!(error instanceof BowlineError) || error.code !== 'BOWLINE_BINARIES_MISSING') throw error;
  tell({ unavailable: error.message });
}
// The input may still be open.
process.stdin.destroy();
