import { ImageError } from '../../../scripts/image/image-error.ts';
import { machinePlatform } from '../../../scripts/image/image-options.ts';
import { nodeLayer } from '../../../scripts/image/node-layer.ts';
import { readPackageLock } from '../../../scripts/image/package-lock.ts';
import { pkcs11Layer } from '../../../scripts/image/pkcs11-layer.ts';
import { systemLayer } from '../../../scripts/image/system-layer.ts';

/** ensureImageLayers builds the layers below our own once into the cache. It returns why it cannot, if so. */
export async function ensureImageLayers(
  log: (line: string) => void = console.error,
): Promise<{ readonly skippedBecause: string } | undefined> {
  const lock = readPackageLock();
  try {
    for (const layer of [systemLayer, nodeLayer, pkcs11Layer]) await layer(machinePlatform(), lock, log);
    return undefined;
  } catch (error) {
    if (!(error instanceof ImageError)) throw error;
    return { skippedBecause: `no image: ${error.message}` };
  }
}
