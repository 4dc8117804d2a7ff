import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import type { SoftHsmDevice } from '../agent/softhsm-worker.test-support.ts';
import { SoftwareToken, type SoftwareTokenSnapshot } from '../token/software-token.ts';
import { type Behaviour, behaviourFile } from './canary-module.test-support.ts';

/** CANARIES are the values and PINs that must appear only in the Secrets that hold them. */
export const CANARIES = {
  value: 'canary-Zq7!"correct"\\horse',
  update: 'canary-Kd2!"battery"\\staple',
  pin: 'canary-pin-Rw4!"7391"\\6284',
  newPin: 'canary-pin-Ht8!"5520"\\9173',
  wrongPin: 'canary-pin-Vb6!"8846"\\0052',
} as const;

/** LeakyDevice is a device whose PKCS#11 module reveals everything, with the mounted PIN of its agent. */
export interface LeakyDevice extends Pick<SoftHsmDevice, 'config' | 'command' | 'writePin'>, AsyncDisposable {
  /** The folder with the token, the PIN and the state of the agent. */
  readonly folder: string;
  /** The files that hold values and PINs. */
  readonly secretFiles: readonly string[];
  /** misbehave makes the module fail at its next search. */
  misbehave(behaviour: Behaviour): Promise<void>;
  /** enterWrongPin is another program with a wrong PIN, before a new pod of the agent starts. */
  enterWrongPin(): Promise<void>;
}

/** leakyDevice creates a token with a PIN, which is mounted. */
export async function leakyDevice(serialNumber: string): Promise<LeakyDevice> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-canary-'));
  const at = (name: string): string => join(folder, name);
  const [library, pinFile, nextPinFile, stateFolder] = [at('token'), at('pin'), at('pin.next'), at('state')];
  const token = new SoftwareToken({ serialNumber, label: 'pico', pin: Buffer.from(CANARIES.pin), maxPinTries: 10 });
  const save = (snapshot: SoftwareTokenSnapshot): Promise<void> => writeFile(library, JSON.stringify(snapshot));
  const misbehave = (behaviour: Behaviour): Promise<void> => writeFile(behaviourFile(library), behaviour);
  await mkdir(stateFolder);
  await save(token.snapshot());
  await misbehave('works');
  await writeFile(pinFile, CANARIES.pin);
  const module = await bundledProgram('operators/hsm-secrets/src/scenarios/canary-module.test-support.ts');
  return {
    folder,
    secretFiles: [library, pinFile, nextPinFile],
    config: { library, pinFile, stateFolder, autoProvision: false, pkcs11js: module },
    command: { program: process.execPath, args: [] },
    writePin: (pin, key = 'pin') => writeFile(at(key), pin),
    misbehave,
    async enterWrongPin() {
      const snapshot = JSON.parse(await readFile(library, 'utf8')) as SoftwareTokenSnapshot;
      await save({ ...snapshot, wrongPins: snapshot.wrongPins + 1 });
      // A new pod has no record of the PINs that were tried.
      await rm(stateFolder, { recursive: true });
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
