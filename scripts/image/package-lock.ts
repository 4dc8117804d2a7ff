import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../repository.ts';
import type { Platform, Target } from './image-options.ts';

/** LockedPackage is a Debian package in the version that is shipped. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
}

/** PackageLock pins everything in an image that does not come from this repository. */
export interface PackageLock {
  /** When the packages were selected: the time of all files of their layers, so that these layers change only with the lock. */
  readonly date: string;
  readonly node: { readonly version: string; readonly integrity: Readonly<Record<Platform, string>> };
  /** The packages of `pkcs11` are added to those of `manager`. */
  readonly packages: Readonly<Record<Platform, Readonly<Record<Target, readonly LockedPackage[]>>>>;
}

/** PACKAGE_LOCK is the path of the lock, relative to the repository. */
export const PACKAGE_LOCK = 'scripts/image/packages.lock.json';

/** readPackageLock reads the lock of this commit. */
export function readPackageLock(): PackageLock {
  return JSON.parse(readFileSync(join(repositoryRoot, PACKAGE_LOCK), 'utf8')) as PackageLock;
}

/** writePackageLock writes the lock. */
export function writePackageLock(lock: PackageLock): void {
  writeFileSync(join(repositoryRoot, PACKAGE_LOCK), `${JSON.stringify(lock, null, 2)}\n`);
}
