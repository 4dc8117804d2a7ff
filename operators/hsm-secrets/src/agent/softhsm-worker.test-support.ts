import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fields } from '@bowline/runtime/manager';
import { silentLog } from '@bowline/runtime/manager';
import { ensurePkcs11js } from '../../../../test/support/pkcs11js/ensure-pkcs11js.ts';
import { ensureSoftHsm, type InstalledSoftHsm } from '../../../../test/support/softhsm/ensure-softhsm.ts';
import { type SoftHsmFolder, softHsmFolder } from '../../../../test/support/softhsm/soft-hsm-folder.ts';
import { SupervisedTokenService, type SupervisedTokenServiceOptions } from './worker/supervised-token-service.ts';
import { realWorker } from './worker/worker-command.test-support.ts';
import type { WorkerConfig } from './worker/worker-messages.ts';
import type { WorkerCommand } from './worker/worker-process.ts';

/** Pkcs11Tools holds what a test with a real PKCS#11 module needs, or why it is missing. */
export type Pkcs11Tools =
  | { readonly softHsm: InstalledSoftHsm; readonly pkcs11js: string }
  | { readonly skippedBecause: string };

/** pkcs11Tools installs SoftHSM2 and pkcs11js. */
export async function pkcs11Tools(): Promise<Pkcs11Tools> {
  const softHsm = await ensureSoftHsm();
  if ('skippedBecause' in softHsm) return softHsm;
  const pkcs11js = await ensurePkcs11js();
  return 'skippedBecause' in pkcs11js ? pkcs11js : { softHsm, pkcs11js: pkcs11js.folder };
}

/** PINS are those of the tokens that tests create. */
export const PINS = { pin: '4711-user', soPin: '0815-officer' } as const;

/** SoftHsmDevice is a folder with tokens, and the files of an agent that uses them. */
export interface SoftHsmDevice extends AsyncDisposable {
  readonly tokens: SoftHsmFolder;
  readonly config: WorkerConfig;
  /** The command of a worker that uses the tokens. */
  readonly command: WorkerCommand;
  /** writePin writes the mounted PIN, or another key beside it. */
  writePin(pin: string, key?: string): Promise<void>;
  /** start runs a worker; several at a time share the tokens. */
  start(options?: StartOptions): RunningWorker;
}

/** StartOptions changes the configuration of a worker. */
export interface StartOptions extends Partial<Omit<SupervisedTokenServiceOptions, 'config'>> {
  readonly config?: Partial<WorkerConfig>;
}

/** RunningWorker is a worker with its log. */
export interface RunningWorker extends AsyncDisposable {
  readonly service: SupervisedTokenService;
  readonly lines: readonly (Fields & { readonly message: string })[];
}

/** softHsmDevice creates a folder without tokens, and a mounted PIN. */
export async function softHsmDevice(tools: Exclude<Pkcs11Tools, { skippedBecause: string }>): Promise<SoftHsmDevice> {
  const tokens = await softHsmFolder(tools.softHsm);
  const folder = await mkdtemp(join(tmpdir(), 'bowline-agent-'));
  const { library } = tools.softHsm;
  const pinFile = join(folder, 'pin');
  const config: WorkerConfig = {
    library,
    pinFile,
    stateFolder: folder,
    autoProvision: false,
    pkcs11js: tools.pkcs11js,
  };
  const command = { ...(await realWorker()), env: { ...process.env, ...tokens.env } };
  const writePin = (pin: string, key = 'pin'): Promise<void> => writeFile(join(folder, key), pin);
  await writePin(`${PINS.pin}\n`);
  return {
    tokens,
    config,
    command,
    writePin,
    start({ config: more, ...options } = {}) {
      const lines: (Fields & { message: string })[] = [];
      const record = (message: string, fields?: Fields): void => void lines.push({ message, ...fields });
      const log = { ...silentLog, warn: record, error: record };
      const service = new SupervisedTokenService({ config: { ...config, ...more }, command, log, ...options });
      const stop = new AbortController();
      const running = service.run(stop.signal);
      return {
        service,
        lines,
        async [Symbol.asyncDispose]() {
          stop.abort();
          await running;
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
      await tokens[Symbol.asyncDispose]();
    },
  };
}
