import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../bench/support/run-program.ts';
import type { InstalledSoftHsm } from './ensure-softhsm.ts';

/** SoftHsmFolder is a temporary folder with the tokens of a SoftHSM2. */
export interface SoftHsmFolder extends AsyncDisposable {
  readonly path: string;
  /** The environment of a process that uses these tokens. */
  readonly env: { readonly SOFTHSM2_CONF: string };
  /** initToken creates a token, and so changes the slots of the module. */
  initToken(label: string, pins: { readonly pin: string; readonly soPin: string }): Promise<void>;
  /** pkcs11Tool runs OpenSC's tool; undefined if it is not available. */
  readonly pkcs11Tool: ((...args: readonly string[]) => Promise<string>) | undefined;
  /** unplug hides all tokens; plug brings them back. */
  unplug(): Promise<void>;
  plug(): Promise<void>;
}

/** softHsmFolder creates a folder without tokens, which is removed when it is disposed of. */
export async function softHsmFolder({ library, util, pkcs11Tool }: InstalledSoftHsm): Promise<SoftHsmFolder> {
  const path = await mkdtemp(join(tmpdir(), 'bowline-softhsm-'));
  const tokens = join(path, 'tokens');
  const unplugged = join(path, 'unplugged');
  const config = join(path, 'softhsm2.conf');
  await mkdir(tokens);
  await mkdir(unplugged);
  await writeFile(config, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`);
  const env = { SOFTHSM2_CONF: config };
  const run = (program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<string> =>
    runProgram(program, args, { cwd: path, env: { PATH: process.env.PATH, ...env, ...more }, timeoutMs: 60_000 });
  const move = async (from: string, to: string): Promise<void> => {
    for (const name of await readdir(from)) await rename(join(from, name), join(to, name));
  };
  return {
    path,
    env,
    async initToken(label, { pin, soPin }) {
      const token = ['--init-token', '--free', '--label', label, '--pin', pin, '--so-pin', soPin];
      await run(util, ['--module', library, ...token]);
    },
    pkcs11Tool: pkcs11Tool
      ? (...args) =>
          run(pkcs11Tool.program, ['--module', library, ...args], { LD_LIBRARY_PATH: pkcs11Tool.libraryPath })
      : undefined,
    unplug: () => move(tokens, unplugged),
    plug: () => move(unplugged, tokens),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
