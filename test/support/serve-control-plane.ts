import { once } from 'node:events';
import { attachmentOf, startControlPlane } from '@bowline/control-plane';
import type { SharedControlPlane } from '@bowline/control-plane/testing';
import { BowlineError } from '@bowline/runtime';

/**
 * Runs a control plane of the given kind until standard input closes; the one line on standard output tells how to attach to it.
 */
const [kind = 'kubernetes'] = process.argv.slice(2);
const abort = new AbortController();
const closed = once(process.stdin.resume(), 'end').then(() => abort.abort(new Error('it is no longer needed')));
const tell = (shared: SharedControlPlane): void => {
  process.stdout.write(`${JSON.stringify(shared)}\n`);
};

try {
  await using controlPlane =
    kind === 'embedded'
      ? await startControlPlane({
          kind,
          signal: abort.signal,
          onError: (error) => console.error('the embedded control plane failed:', error),
        })
      : await startControlPlane({
          kind: 'kubernetes',
          signal: abort.signal,
          onProgress: (line) => console.error(line),
          onCrash: (error) => console.error(`${error.code}: ${error.message}`),
        });
  const { version, timings } = controlPlane;
  console.error(`${kind} control plane ${version} ready in ${(timings.totalMs / 1000).toFixed(1)} s`);
  // The embedded one deletes a namespace faster than it lists what is left in it.
  tell({ attachment: attachmentOf(controlPlane), isTemporary: kind !== 'embedded' });
  await closed;
} catch (error) {
  if (!(error instanceof BowlineError) || error.code !== 'BOWLINE_BINARIES_MISSING') throw error;
  tell({ unavailable: error.message });
}
// The input may still be open.
process.stdin.destroy();
