import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { writeArchive } from './archive.ts';
import { bowlineContent } from './bowline-layer.ts';
import { fileDigest } from './file-digest.ts';
import { imageManifest } from './image-manifest.ts';
import type { ImageOptions } from './image-options.ts';
import { buildLayer, type Layer } from './layer.ts';
import { nodeLayer } from './node-layer.ts';
import { readPackageLock } from './package-lock.ts';
import { pkcs11Layer } from './pkcs11-layer.ts';
import { imageSbom } from './sbom.ts';
import { sourceState } from './source-state.ts';
import { systemLayer } from './system-layer.ts';

/** BuiltImage describes an archive. */
export interface BuiltImage {
  /** The digest of the image's manifest. */
  readonly digest: string;
  readonly layers: readonly Layer[];
  /** The sum of the compressed layers in bytes. */
  readonly size: number;
  /** The size of the archive in bytes. */
  readonly archiveSize: number;
  /** The files that were written: the archive and those beside it. */
  readonly files: readonly string[];
}

/** buildImage writes the archive of an image, and beside it an SBOM, the licences and the checksums. */
export async function buildImage(
  options: ImageOptions & { readonly output: string },
  log: (line: string) => void,
): Promise<BuiltImage> {
  const { output, target, platform } = options;
  const lock = readPackageLock();
  const source = sourceState(lock.date, log);
  const bowline = bowlineContent(source.time);
  const work = await mkdtemp(join(tmpdir(), 'bowline-image-'));
  try {
    // The layer that changes with every release is the last one: an upgrade transfers only this layer.
    const layers = [
      await systemLayer(platform, lock, log),
      await nodeLayer(platform, lock, log),
      ...(target === 'pkcs11' ? [await pkcs11Layer(platform, lock, log)] : []),
      await buildLayer(bowline, work),
    ];
    const image = imageManifest(options, layers, source);
    const { digest } = image.manifest;
    await writeArchive(output, options, image, layers, source.time);
    const beside = {
      [`${output}.sbom.cdx.json`]: await imageSbom({ ...options, lock, source, digest, bundled: bowline.bundled }),
      [`${output}.licenses.txt`]: layers.map(({ licences }) => licences).join(''),
    };
    for (const [file, text] of Object.entries(beside)) await writeFile(file, text);
    const files = [output, ...Object.keys(beside)];
    const sums = await Promise.all(files.map(async (file) => `${await fileDigest(file)}  ${basename(file)}\n`));
    await writeFile(`${output}.sha256`, sums.join(''));
    return {
      digest,
      layers,
      size: layers.reduce((sum, { size }) => sum + size, 0),
      archiveSize: (await stat(output)).size,
      files: [...files, `${output}.sha256`],
    };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
