import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';
import { unpackDebianPackages } from '../debian-packages.ts';

/** SoftHsm is an installed SoftHSM2 (a PKCS#11 module that keeps tokens in files), or why there is none. */
export type SoftHsm = InstalledSoftHsm | { readonly skippedBecause: string };

/** InstalledSoftHsm holds the paths of SoftHSM2, and of OpenSC's pkcs11-tool if it is available. */
export interface InstalledSoftHsm {
  readonly library: string;
  readonly util: string;
  readonly pkcs11Tool: { readonly program: string; readonly libraryPath: string | undefined } | undefined;
}

/** Relative to the root of an installation. */
const LIBRARIES = [
  'usr/lib/softhsm/libsofthsm2.so',
  'usr/lib64/softhsm/libsofthsm2.so',
  'usr/lib64/pkcs11/libsofthsm2.so',
  'usr/local/lib/softhsm/libsofthsm2.so',
];
const SOFTHSM_PACKAGES = ['softhsm2', 'softhsm2-common', 'libsofthsm2'];
const OPENSC_PACKAGES = ['opensc', 'opensc-pkcs11'];

/**
 * ensureSoftHsm returns SoftHSM2 of the system. If there is none, Debian's packages are unpacked once into the cache outside the
 * work tree, which needs no privileges.
 */
export async function ensureSoftHsm(log: (line: string) => void = console.error): Promise<SoftHsm> {
  const system = await findInstalled('/', await findProgram('softhsm2-util', process.env));
  if (system) return system;
  const unpacked = await unpackDebianPackages({
    name: 'softhsm',
    title: 'SoftHSM2',
    packages: SOFTHSM_PACKAGES,
    // Only some checks need pkcs11-tool.
    optionalPackages: OPENSC_PACKAGES,
    log,
  });
  if ('skippedBecause' in unpacked) return unpacked;
  const installed = await findInstalled(unpacked.folder, join(unpacked.folder, 'usr/bin/softhsm2-util'));
  return installed ?? { skippedBecause: `no SoftHSM2: ${unpacked.folder} is incomplete; remove it` };
}

async function findInstalled(root: string, util: string | undefined): Promise<InstalledSoftHsm | undefined> {
  const library = LIBRARIES.map((path) => join(root, path)).find((path) => existsSync(path));
  if (util === undefined || library === undefined || !existsSync(util)) return undefined;
  return { library, util, pkcs11Tool: await findPkcs11Tool(root) };
}

async function findPkcs11Tool(root: string): Promise<InstalledSoftHsm['pkcs11Tool']> {
  const system = await findProgram('pkcs11-tool', process.env);
  if (system !== undefined) return { program: system, libraryPath: undefined };
  const program = join(root, 'usr/bin/pkcs11-tool');
  if (root === '/' || !existsSync(program)) return undefined;
  // Its own library is in a folder that is named after the machine.
  const lib = join(root, 'usr/lib');
  const machine = (await readdir(lib)).find((entry) => entry.endsWith('-linux-gnu'));
  return { program, libraryPath: machine === undefined ? undefined : join(lib, machine) };
}
