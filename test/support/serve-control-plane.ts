import { once } from 'node:events';
import { configMapSync } from '@bowline/configmap-sync';
import { attachmentOf, type ControlPlane, connectClient, startControlPlane } from '@bowline/control-plane';
import type { SharedControlPlane } from '@bowline/control-plane/testing';
import { hsmSecrets } from '@bowline/hsm-secrets';
import { ignitionSync } from '@bowline/ignition-sync';
import { BowlineError } from '@bowline/runtime';
import { installCustomResourceDefinitions, operatorIdentity } from '@bowline/runtime/install';

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
  await installKinds(controlPlane);
  tell({ attachment: attachmentOf(controlPlane), isTemporary: true });
  await closed;
} catch (error) {
  if (!(error instanceof BowlineError) || error.code !== 'BOWLINE_BINARIES_MISSING') throw error;
  tell({ unavailable: error.message });
}
// The input may still be open.
process.stdin.destroy();

/**
 * installKinds installs the kinds of our operators before the first test needs them: the API server takes up to 30 s to accept
 * objects of a new kind as owners, and meanwhile other tests can run.
 */
async function installKinds(controlPlane: ControlPlane): Promise<void> {
  await using admin = await connectClient(await controlPlane.kubeconfig('admin'), { component: 'test' });
  for (const operator of [configMapSync, hsmSecrets, ignitionSync]) {
    const { crds: fieldManager } = operatorIdentity(operator).fieldManagers;
    await installCustomResourceDefinitions(admin, operator.resources, { fieldManager });
  }
}
