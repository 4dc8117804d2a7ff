import { installTools, toolSets } from '../kubectl/tools.ts';
import { ensureOpenSsh } from './git/ensure-openssh.ts';
import { ensureImageLayers } from './image/ensure-image-layers.ts';
import { ensureImageTools } from './image/ensure-image-tools.ts';
import { ensureKubelet } from './kubelet/ensure-kubelet.ts';
import { ensureMoto } from './moto/ensure-moto.ts';
import { ensurePkcs11js } from './pkcs11js/ensure-pkcs11js.ts';
import { ensureSoftHsm } from './softhsm/ensure-softhsm.ts';
import { spirePrograms } from './spire/spire-programs.ts';
import { ensureVault } from './vault/ensure-vault.ts';

/**
 * prepareTools installs the programs that tests on a real control plane use, once, into the cache outside the work tree. It runs
 * before the suite: within a test, a build would compete with other tests for the processor and exceed the test's time limit.
 */
export async function prepareTools(): Promise<void> {
  await ensureVault();
  await ensureMoto();
  await ensureKubelet();
  await ensureSoftHsm();
  await ensureOpenSsh();
  await ensurePkcs11js();
  await ensureImageTools();
  await ensureImageLayers();
  await spirePrograms();
  for (const set of toolSets) await installTools(set);
}
