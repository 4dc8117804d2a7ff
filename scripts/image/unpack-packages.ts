import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../bench/support/run-program.ts';
import { UNUSED_FILES } from './contents.ts';
import type { LockedPackage } from './package-lock.ts';

/** The first bytes of a binary program. */
const ELF = Buffer.from('\x7fELF', 'latin1');
/** ROOT_LINKS are the folders of the root that are links in Debian. */
export const ROOT_LINKS = ['bin', 'lib', 'lib64', 'sbin'];

/**
 * unpackPackages unpacks packages into a folder as dpkg would, without their scripts and what an image does not need, and returns
 * their licences. `/var/lib/dpkg/status.d` describes them, which is where scanners look for packages without dpkg.
 */
export async function unpackPackages(
  root: string,
  packages: readonly LockedPackage[],
  files: readonly string[],
): Promise<string> {
  for (const name of ROOT_LINKS) {
    await mkdir(join(root, 'usr', name), { recursive: true });
    await symlink(`usr/${name}`, join(root, name));
  }
  const records = join(root, 'var/lib/dpkg/status.d');
  await mkdir(records, { recursive: true });
  const options = { cwd: root, env: { PATH: process.env.PATH, LC_ALL: 'C' } };
  const content = `${root}.fsys.tar`;
  for (const [index, { name }] of packages.entries()) {
    const file = files[index] ?? '';
    await writeFile(join(records, name), `${await runProgram('dpkg-deb', ['--field', file], options)}\n`);
    await runProgram('bash', ['-c', 'dpkg-deb --fsys-tarfile "$0" > "$1"', file, content], options);
    await runProgram(
      'tar',
      [
        '--extract',
        '--preserve-permissions',
        '--no-same-owner',
        '--keep-directory-symlink',
        '--wildcards',
        ...UNUSED_FILES.map((pattern) => `--exclude=${pattern}`),
        '--file',
        content,
      ],
      options,
    );
  }
  await rm(content);
  await removeDocumentation(root);
  await removeScripts(join(root, 'usr/lib/git-core'));
  return licencesOf(root, packages);
}

/** removeDocumentation keeps only copyright files and the links between folders that have one. */
async function removeDocumentation(root: string): Promise<void> {
  const folder = join(root, 'usr/share/doc');
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const isKept = entry.isDirectory() || (entry.isSymbolicLink() && entry.parentPath === folder);
    if (!isKept && entry.name !== 'copyright') await rm(join(entry.parentPath, entry.name));
  }
}

/** removeScripts removes the commands of git that are scripts: they need Perl, or programs that an image does not have. */
async function removeScripts(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isFile() && !(await readFile(path)).subarray(0, 4).equals(ELF)) await rm(path);
  }
}

async function licencesOf(root: string, packages: readonly LockedPackage[]): Promise<string> {
  const texts: string[] = [];
  for (const { name, version } of packages) {
    const file = join(root, 'usr/share/doc', name, 'copyright');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) throw new Error(`the package ${name} ${version} has no copyright file`);
    texts.push(licenceEntry(`${name} ${version} (Debian)`, text));
  }
  return texts.join('');
}

/** licenceEntry returns the part of a list of licences about one component. */
export function licenceEntry(title: string, text: string): string {
  return `${'='.repeat(100)}\n${title}\n${'='.repeat(100)}\n\n${text.trim()}\n\n`;
}
