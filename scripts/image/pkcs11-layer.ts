import { copyFile, mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PKCS11JS } from '../../operators/hsm-secrets/src/pkcs11/load-pkcs11.ts';
import { ensurePkcs11js } from '../../test/support/pkcs11js/ensure-pkcs11js.ts';
import { debianFiles } from './debian-files.ts';
import { fileDigest } from './file-digest.ts';
import { ImageError } from './image-error.ts';
import type { Platform } from './image-options.ts';
import { cachedLayer, type Layer, type LayerContent } from './layer.ts';
import type { PackageLock } from './package-lock.ts';
import { licenceEntry, ROOT_LINKS, unpackPackages } from './unpack-packages.ts';

/** The files of pkcs11js that are used at run time. */
const BINARY = 'build/Release/pkcs11.node';
const PACKAGE_FILES = ['package.json', 'index.js', 'LICENSE', BINARY];

/** pkcs11Content describes the layer of OpenSC, pcscd and pkcs11js. Node finds the latter next to the folder of the bundle. */
export function pkcs11Content(platform: Platform, lock: PackageLock, log: (line: string) => void): LayerContent {
  const packages = lock.packages[platform].pkcs11;
  return {
    name: 'pkcs11',
    time: Date.parse(lock.date) / 1000,
    recipe: ['contents.ts', 'unpack-packages.ts', 'pkcs11-layer.ts'],
    async stage(root) {
      const source = await builtPkcs11js(log);
      const licences = await unpackPackages(root, packages, await debianFiles(platform, packages, log));
      // The layer below has them.
      for (const name of ROOT_LINKS) await rm(join(root, name));
      const folder = join(root, 'usr/lib/node_modules', PKCS11JS.name);
      for (const name of PACKAGE_FILES) {
        await mkdir(dirname(join(folder, name)), { recursive: true });
        await copyFile(join(source, name), join(folder, name));
      }
      const licence = await readFile(join(source, 'LICENSE'), 'utf8');
      return licences + licenceEntry(`${PKCS11JS.name} ${PKCS11JS.version} (npm)`, licence);
    },
  };
}

/** pkcs11Layer returns the layer, from the cache if possible. */
export async function pkcs11Layer(platform: Platform, lock: PackageLock, log: (line: string) => void): Promise<Layer> {
  const binary = await fileDigest(join(await builtPkcs11js(log), BINARY));
  const inputs = lock.packages[platform].pkcs11.map(({ name, sha256 }) => `${name} ${sha256}`);
  return cachedLayer(pkcs11Content(platform, lock, log), [...inputs, binary], log);
}

/** builtPkcs11js returns the folder of pkcs11js, which npm compiles for this machine. */
async function builtPkcs11js(log: (line: string) => void): Promise<string> {
  const built = await ensurePkcs11js(log);
  if ('skippedBecause' in built) {
    throw new ImageError(`--target pkcs11: ${built.skippedBecause} (it needs Python, make and a C++ compiler)`);
  }
  return built.folder;
}
