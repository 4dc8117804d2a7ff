import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from '../../bench/support/run-program.ts';
import { NODE_PACKAGES } from './contents.ts';
import { fileDigest } from './file-digest.ts';
import { imageCache } from './image-cache.ts';
import { ImageError } from './image-error.ts';
import type { Platform } from './image-options.ts';
import { cachedLayer, type Layer, type LayerContent } from './layer.ts';
import { PACKAGE_LOCK, type PackageLock } from './package-lock.ts';
import { licenceEntry } from './unpack-packages.ts';

/** nodeContent describes the layer of the Node binary, which comes from its npm package. */
export function nodeContent(platform: Platform, lock: PackageLock): LayerContent {
  const { version } = lock.node;
  return {
    name: 'node',
    time: Date.parse(lock.date) / 1000,
    recipe: ['node-layer.ts'],
    async stage(root) {
      const work = await mkdtemp(join(await imageCache(), 'node-'));
      try {
        await unpackNode(platform, lock, work);
        const program = join(root, 'usr/bin/node');
        const copyright = join(root, 'usr/share/doc/node/copyright');
        for (const path of [program, copyright]) await mkdir(dirname(path), { recursive: true });
        await rename(join(work, 'package/bin/node'), program);
        const licence = await readFile(join(work, 'package/LICENSE'), 'utf8');
        await writeFile(copyright, licence);
        return licenceEntry(`Node.js ${version}`, licence);
      } finally {
        await rm(work, { recursive: true, force: true });
      }
    },
  };
}

/** nodeLayer returns the layer, from the cache if possible. */
export function nodeLayer(platform: Platform, lock: PackageLock, log: (line: string) => void): Promise<Layer> {
  return cachedLayer(nodeContent(platform, lock), [lock.node.version, lock.node.integrity[platform] ?? ''], log);
}

async function unpackNode(platform: Platform, { node }: PackageLock, work: string): Promise<void> {
  const name = NODE_PACKAGES[platform];
  const spec = `${name}@${node.version}`;
  const options = { cwd: work, env: process.env };
  try {
    await runProgram('npm', ['pack', '--silent', '--fetch-retries=1', spec, '--pack-destination', work], options);
  } catch (cause) {
    throw new ImageError(
      `cannot get the package ${spec}, the Node binary for ${platform}, from the npm registry: check the connection; if the registry does not have it, use another --platform`,
      { cause },
    );
  }
  const file = `${name}-${node.version}.tgz`;
  const integrity = `sha512-${await fileDigest(join(work, file), { algorithm: 'sha512', encoding: 'base64' })}`;
  if (integrity !== node.integrity[platform]) {
    throw new ImageError(`the package ${spec} does not have the integrity of ${PACKAGE_LOCK}; check the npm registry`);
  }
  await runProgram('tar', ['-xzf', file, 'package/bin/node', 'package/LICENSE'], options);
}
