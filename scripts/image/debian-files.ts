import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFile } from '../../packages/control-plane/src/binaries/file-lock.ts';
import { openApt } from './apt.ts';
import { DEBIAN_ARCHITECTURES } from './contents.ts';
import { fileDigest } from './file-digest.ts';
import { imageCache, markUsed, removeUnused } from './image-cache.ts';
import { ImageError } from './image-error.ts';
import type { Platform } from './image-options.ts';
import { type LockedPackage, PACKAGE_LOCK } from './package-lock.ts';

/** debianFiles returns the paths of package files in the cache, in the order of the packages, and downloads those that are missing. */
export async function debianFiles(
  platform: Platform,
  packages: readonly LockedPackage[],
  log: (line: string) => void,
): Promise<readonly string[]> {
  const folder = await imageCache('packages');
  const pathOf = ({ sha256 }: LockedPackage): string => join(folder, `${sha256}.deb`);
  await using _lock = await lockFile(join(folder, 'lock'), {
    onWait: (pid) => log(`waiting for process ${pid}, which is downloading Debian packages`),
  });
  const missing = packages.filter((each) => !existsSync(pathOf(each)));
  if (missing.length > 0) {
    log(`downloading ${missing.length} Debian packages for ${platform} (once)`);
    await download(platform, missing, pathOf);
  }
  for (const each of packages) await markUsed(pathOf(each));
  if (missing.length > 0) await removeUnused(folder);
  return packages.map(pathOf);
}

async function download(
  platform: Platform,
  packages: readonly LockedPackage[],
  pathOf: (each: LockedPackage) => string,
): Promise<void> {
  const work = await mkdtemp(join(await imageCache('packages'), 'download-'));
  try {
    await using apt = await openApt(DEBIAN_ARCHITECTURES[platform]);
    try {
      await apt.download(
        packages.map(({ name, version }) => `${name}=${version}`),
        work,
      );
    } catch (error) {
      throw unavailable(error);
    }
    const files = new Map<string, string>();
    for (const name of await readdir(work)) files.set(await fileDigest(join(work, name)), join(work, name));
    for (const each of packages) {
      const file = files.get(each.sha256);
      if (file === undefined) {
        throw new ImageError(
          `the package ${each.name} ${each.version} does not have the SHA-256 of ${PACKAGE_LOCK}; check the sources of apt`,
        );
      }
      await rename(file, pathOf(each));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** unavailable explains that Debian has replaced a package, usually by a security update. */
function unavailable(error: unknown): Error {
  const text = error instanceof Error ? error.message : String(error);
  const [, version, name] = /Version '(.+?)' for '(.+?)' was not found/.exec(text) ?? [];
  if (name === undefined) return error instanceof Error ? error : new Error(text);
  return new ImageError(
    `the sources of apt do not offer ${name} ${version}: build on Debian 12 (bookworm); if Debian has replaced this version, ` +
      `run "npm run image -- --update-packages" and commit ${PACKAGE_LOCK}`,
    { cause: error },
  );
}
