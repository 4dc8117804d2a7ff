import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../../packages/control-plane/src/binaries/find-binaries.ts';
import { unpackDebianPackages } from '../../../test/support/debian-packages.ts';
import type { Peer } from '../../support/peers.ts';
import { runProgram } from '../../support/run-program.ts';

/** ensureRsync returns rsync of the system, or of its Debian package, which is unpacked once into the cache. */
export async function ensureRsync(log: (line: string) => void): Promise<Peer> {
  const system = await findProgram('rsync', process.env);
  if (system !== undefined) return await describe(system, {});
  const packages = ['rsync', 'libpopt0', 'libxxhash0', 'liblz4-1'];
  const unpacked = await unpackDebianPackages({ name: 'rsync', title: 'rsync', packages, log });
  if ('skippedBecause' in unpacked) return unpacked;
  const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const libraries = ['usr/lib', 'lib'].map((folder) => join(unpacked.folder, folder, `${machine}-linux-gnu`));
  const program = join(unpacked.folder, 'usr/bin/rsync');
  if (!existsSync(program)) return { skippedBecause: `no rsync: ${unpacked.folder} is incomplete; remove it` };
  return await describe(program, { LD_LIBRARY_PATH: libraries.join(':') });
}

async function describe(file: string, env: Readonly<Record<string, string>>): Promise<Peer> {
  try {
    const text = await runProgram(file, ['--version'], { cwd: '/', env: { ...process.env, ...env } });
    return { command: { file, args: [], env }, version: /version (\S+)/.exec(text)?.[1] ?? 'unknown' };
  } catch (error) {
    return { skippedBecause: `rsync does not run: ${error instanceof Error ? error.message : String(error)}` };
  }
}
