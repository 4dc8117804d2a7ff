import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bowlineContent } from './bowline-layer.ts';
import type { ImageOptions } from './image-options.ts';
import { stageLayer } from './layer.ts';
import { nodeContent } from './node-layer.ts';
import { readPackageLock } from './package-lock.ts';
import { pkcs11Content } from './pkcs11-layer.ts';
import { sourceState } from './source-state.ts';
import { systemContent } from './system-layer.ts';

/** stageFolders writes one folder per layer, which the Dockerfile copies. */
export async function stageFolders(
  { folder, target, platform }: ImageOptions & { readonly folder: string },
  log: (line: string) => void,
): Promise<void> {
  const lock = readPackageLock();
  const contents = [
    systemContent(platform, lock, log),
    nodeContent(platform, lock),
    ...(target === 'pkcs11' ? [pkcs11Content(platform, lock, log)] : []),
    bowlineContent(sourceState(lock.date, log).time),
  ];
  for (const content of contents) {
    const root = join(folder, content.name);
    await mkdir(root, { recursive: true });
    await stageLayer(content, root);
  }
}
