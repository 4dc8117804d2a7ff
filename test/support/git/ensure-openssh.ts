import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';
import { unpackDebianPackages } from '../debian-packages.ts';

/** OpenSsh is an installed sshd with nss_wrapper, or why there is none. */
export type OpenSsh = InstalledOpenSsh | { readonly skippedBecause: string };

/** InstalledOpenSsh holds the paths of the server, its libraries and nss_wrapper. */
export interface InstalledOpenSsh {
  readonly sshd: string;
  /** The folder of the libraries that sshd needs. */
  readonly libraryPath: string;
  /** The library of nss_wrapper. */
  readonly nssWrapper: string;
}

const PACKAGES = ['openssh-server', 'libwrap0', 'libnss-wrapper'];

/** ensureOpenSsh unpacks Debian's packages once into the cache outside the work tree, which needs no privileges. */
export async function ensureOpenSsh(log: (line: string) => void = console.error): Promise<OpenSsh> {
  for (const program of ['ssh', 'ssh-keygen']) {
    if ((await findProgram(program, process.env)) === undefined) {
      return { skippedBecause: `no ${program}: install the package openssh-client` };
    }
  }
  const unpacked = await unpackDebianPackages({ name: 'openssh', title: 'sshd', packages: PACKAGES, log });
  if ('skippedBecause' in unpacked) return unpacked;
  const lib = join(unpacked.folder, 'usr/lib');
  const machine = (await readdir(lib)).find((entry) => entry.endsWith('-linux-gnu'));
  const libraryPath = join(lib, machine ?? '');
  const sshd = join(unpacked.folder, 'usr/sbin/sshd');
  const nssWrapper = join(libraryPath, 'libnss_wrapper.so');
  if (existsSync(sshd) && existsSync(nssWrapper)) return { sshd, libraryPath, nssWrapper };
  return { skippedBecause: `no sshd: ${unpacked.folder} is incomplete; remove it` };
}
