import { runProgram } from '../../bench/support/run-program.ts';
import { repositoryRoot } from '../repository.ts';
import { secondNodeVersion } from '../second-node.ts';
import { type Apt, openApt, type PackageRecord } from './apt.ts';
import { DEBIAN_ARCHITECTURES, NODE_PACKAGES, OMITTED, PACKAGES } from './contents.ts';
import { PLATFORMS, type Platform } from './image-options.ts';
import { type LockedPackage, type PackageLock, writePackageLock } from './package-lock.ts';

/** updatePackages selects the current versions of all packages, for every platform, and writes the lock. */
export async function updatePackages(log: (line: string) => void): Promise<void> {
  const packages: Partial<Record<Platform, PackageLock['packages'][Platform]>> = {};
  const integrity: Partial<Record<Platform, string>> = {};
  for (const platform of PLATFORMS) {
    log(`resolving the packages of ${platform}`);
    await using apt = await openApt(DEBIAN_ARCHITECTURES[platform]);
    const manager = await resolvePackages(apt, PACKAGES.manager, new Set());
    const pkcs11 = await resolvePackages(apt, PACKAGES.pkcs11, new Set(manager.map(({ name }) => name)));
    packages[platform] = { manager, pkcs11 };
    integrity[platform] = await integrityOf(`${NODE_PACKAGES[platform]}@${secondNodeVersion}`);
  }
  writePackageLock({
    date: `${new Date().toISOString().slice(0, 10)}T00:00:00Z`,
    node: { version: secondNodeVersion, integrity: integrity as Record<Platform, string> },
    packages: packages as PackageLock['packages'],
  });
}

/** resolvePackages returns the packages and all that they depend on, without the known and the omitted ones, sorted by name. */
export async function resolvePackages(
  apt: Pick<Apt, 'show'>,
  roots: readonly string[],
  known: ReadonlySet<string>,
): Promise<readonly LockedPackage[]> {
  const found = new Map<string, LockedPackage>();
  let names = [...roots];
  while (names.length > 0) {
    const records = await apt.show(names);
    for (const record of records) found.set(field(record, 'Package'), locked(record));
    const missing = names.filter((name) => !found.has(name));
    if (missing.length > 0) throw new Error(`Debian has no package ${missing.join(', ')}`);
    const wanted = new Set(records.flatMap(dependenciesOf));
    names = [...wanted].filter((name) => !found.has(name) && !known.has(name) && !Object.hasOwn(OMITTED, name));
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** dependenciesOf returns the first alternative of each dependency. */
function dependenciesOf(record: PackageRecord): readonly string[] {
  return ['Pre-Depends', 'Depends']
    .flatMap((name) => (record.get(name) ?? '').split(','))
    .flatMap((dependency) => /^\s*([a-z0-9][a-z0-9+.-]*)/.exec(dependency)?.[1] ?? []);
}

function locked(record: PackageRecord): LockedPackage {
  return {
    name: field(record, 'Package'),
    version: field(record, 'Version'),
    architecture: field(record, 'Architecture'),
    sha256: field(record, 'SHA256'),
  };
}

function field(record: PackageRecord, name: string): string {
  const value = record.get(name);
  if (value === undefined) throw new Error(`a package of Debian's lists has no field ${name}`);
  return value;
}

async function integrityOf(spec: string): Promise<string> {
  const args = ['view', spec, 'dist.integrity'];
  return (await runProgram('npm', args, { cwd: repositoryRoot, env: process.env })).trim();
}
