import { copyFile, link, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { blobPath, dockerManifest, type ImageManifest, imageIndex } from './image-manifest.ts';
import type { ImageOptions } from './image-options.ts';
import { type Layer, packTar } from './layer.ts';

/** writeArchive writes an OCI archive that `docker load` accepts too. The file is complete or missing. */
export async function writeArchive(
  output: string,
  options: ImageOptions,
  image: ImageManifest,
  layers: readonly Layer[],
  time: number,
): Promise<void> {
  const work = await mkdtemp(join(dirname(output), `.${basename(output)}-`));
  try {
    const root = join(work, 'root');
    await mkdir(join(root, 'blobs/sha256'), { recursive: true, mode: 0o755 });
    for (const { digest, file } of layers) await place(file, join(root, blobPath(digest)));
    const files = {
      [blobPath(image.config.digest)]: image.config.text,
      [blobPath(image.manifest.digest)]: image.manifest.text,
      'index.json': imageIndex(options, image.manifest),
      'manifest.json': dockerManifest(options.name, image, layers),
      'oci-layout': JSON.stringify({ imageLayoutVersion: '1.0.0' }),
    };
    for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text, { mode: 0o644 });
    await packTar(root, join(work, 'archive.tar'), time, '--mode=u=rwX,go=rX');
    await rename(join(work, 'archive.tar'), output);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** place links a file, which costs nothing, or copies it to another file system. */
async function place(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
