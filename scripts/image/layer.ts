import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../bench/support/run-program.ts';
import { lockFile } from '../../packages/control-plane/src/binaries/file-lock.ts';
import { fileDigest } from './file-digest.ts';
import { imageCache, markUsed, removeUnused } from './image-cache.ts';

/** Layer is one compressed layer of an image. */
export interface Layer {
  readonly name: string;
  /** The path of the compressed archive. */
  readonly file: string;
  /** The digest of the compressed archive, with the name of its algorithm. */
  readonly digest: string;
  /** The digest of the archive before its compression. */
  readonly diffId: string;
  /** The size of the compressed archive in bytes. */
  readonly size: number;
  /** The size before compression in bytes. */
  readonly unpackedSize: number;
  /** The licences of the content. */
  readonly licences: string;
}

/** LayerContent is the content of a layer. */
export interface LayerContent {
  readonly name: string;
  /** The time of all files, in seconds since 1970. */
  readonly time: number;
  /** The files of this folder that determine the content, in addition to the inputs. */
  readonly recipe: readonly string[];
  /** stage writes the files to a folder and returns their licences. */
  stage(root: string): Promise<string>;
}

/** buildLayer stages and packs a layer into a folder. */
export async function buildLayer(content: LayerContent, folder: string): Promise<Layer> {
  const root = join(folder, `${content.name}-root`);
  await mkdir(root, { recursive: true });
  const licences = await stageLayer(content, root);
  const tar = join(folder, `${content.name}.tar`);
  await packTar(root, tar, content.time);
  await rm(root, { recursive: true });
  const diffId = `sha256:${await fileDigest(tar)}`;
  const { size: unpackedSize } = await stat(tar);
  // GNU gzip and not zlib, whose output depends on its version and on the processor.
  await runProgram('gzip', ['--no-name', '-9', tar], { cwd: folder, env: {} });
  const file = `${tar}.gz`;
  const digest = `sha256:${await fileDigest(file)}`;
  return { name: content.name, file, digest, diffId, size: (await stat(file)).size, unpackedSize, licences };
}

/** stageLayer writes the files of a layer to a folder, and returns their licences. */
export async function stageLayer(content: LayerContent, root: string): Promise<string> {
  const licences = await content.stage(root);
  await normaliseModes(root);
  return licences;
}

/** cachedLayer returns a layer from the cache, or builds it. The inputs and the code that stages it identify it. */
export async function cachedLayer(
  content: LayerContent,
  inputs: readonly string[],
  log: (line: string) => void,
): Promise<Layer> {
  const key = createHash('sha256').update(JSON.stringify([content.name, content.time, inputs, recipeOf(content)]));
  const layers = await imageCache('layers');
  const folder = join(layers, `${content.name}-${key.digest('hex').slice(0, 16)}`);
  const description = join(folder, 'layer.json');
  const read = async (): Promise<Layer> => {
    const layer = JSON.parse(await readFile(description, 'utf8')) as Layer;
    await markUsed(folder);
    return { ...layer, file: join(folder, `${content.name}.tar.gz`) };
  };
  if (existsSync(folder)) return read();
  await using _lock = await lockFile(`${folder}.lock`, {
    onWait: (pid) => log(`waiting for process ${pid}, which is building the layer ${content.name}`),
  });
  if (existsSync(folder)) return read();
  log(`building the layer ${content.name} into ${folder} (once)`);
  const work = `${folder}.new-${randomBytes(4).toString('hex')}`;
  await mkdir(work);
  try {
    const layer = await buildLayer(content, work);
    await writeFile(join(work, 'layer.json'), JSON.stringify(layer));
    await rename(work, folder);
    await removeUnused(layers);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return read();
}

/** packTar writes a tar archive that depends only on the names, modes and content of the files. */
export function packTar(root: string, file: string, time: number, ...more: readonly string[]): Promise<string> {
  const reproducible = [
    '--format=gnu',
    '--sort=name',
    `--mtime=@${time}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    ...more,
  ];
  return runProgram('tar', ['--create', ...reproducible, '--file', file, '--directory', root, '.'], {
    cwd: root,
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
  });
}

/** normaliseModes sets the modes of all files, which depend on the umask of the process otherwise. No program may change its user. */
async function normaliseModes(root: string): Promise<void> {
  await chmod(root, 0o755);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, path === join(root, 'tmp') ? 0o1777 : 0o755);
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function recipeOf({ recipe }: LayerContent): readonly string[] {
  return ['layer.ts', ...recipe].map((name) => readFileSync(fileURLToPath(new URL(name, import.meta.url)), 'utf8'));
}
