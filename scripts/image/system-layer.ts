import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { debianFiles } from './debian-files.ts';
import type { Platform } from './image-options.ts';
import { cachedLayer, type Layer, type LayerContent } from './layer.ts';
import type { PackageLock } from './package-lock.ts';
import { unpackPackages } from './unpack-packages.ts';

/** USER is the user and group of the images. */
export const USER = 65532;

const FILES: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/usr/sbin/nologin
bowline:x:${USER}:${USER}:bowline:/:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/:/usr/sbin/nologin
`,
  'etc/group': `root:x:0:
bowline:x:${USER}:
nogroup:x:65534:
`,
  'etc/nsswitch.conf': `passwd: files
group: files
hosts: files dns
`,
};

/** Mount points: a read-only root cannot get them later. */
const FOLDERS = ['tmp', 'run', 'proc', 'sys', 'dev', 'etc/bowline', 'var/lib/bowline'];

/** systemContent describes the layer of Debian's packages for the manager. */
export function systemContent(platform: Platform, lock: PackageLock, log: (line: string) => void): LayerContent {
  const packages = lock.packages[platform].manager;
  return {
    name: 'system',
    time: Date.parse(lock.date) / 1000,
    recipe: ['contents.ts', 'unpack-packages.ts', 'system-layer.ts'],
    async stage(root) {
      const licences = await unpackPackages(root, packages, await debianFiles(platform, packages, log));
      await writeCertificates(root);
      for (const folder of FOLDERS) await mkdir(join(root, folder), { recursive: true });
      for (const [path, text] of Object.entries(FILES)) await writeFile(join(root, path), text);
      // The package has two copies.
      await rm(join(root, 'usr/lib/git-core/git'));
      await symlink('../../bin/git', join(root, 'usr/lib/git-core/git'));
      // An alternative of Debian, which an installation selects.
      await symlink('dash', join(root, 'usr/bin/sh')).catch(ignoreExisting);
      return licences;
    },
  };
}

/** systemLayer returns the layer, from the cache if possible. */
export function systemLayer(platform: Platform, lock: PackageLock, log: (line: string) => void): Promise<Layer> {
  const inputs = lock.packages[platform].manager.map(({ name, sha256 }) => `${name} ${sha256}`);
  return cachedLayer(systemContent(platform, lock, log), inputs, log);
}

/** writeCertificates writes the bundle of certificate authorities, as the scripts of the package would. */
async function writeCertificates(root: string): Promise<void> {
  const folder = join(root, 'usr/share/ca-certificates');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.crt')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const bundle = join(root, 'etc/ssl/certs/ca-certificates.crt');
  await mkdir(dirname(bundle), { recursive: true });
  await writeFile(bundle, texts.map((text) => `${text.trim()}\n`).join(''));
  await rm(folder, { recursive: true });
}

function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
