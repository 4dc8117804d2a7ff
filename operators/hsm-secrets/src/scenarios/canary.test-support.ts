import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { leaksOf } from '../../../../test/support/traces.ts';
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

/** Sources collects texts by where they were found. */
export class Sources {
  readonly #texts = new Map<string, string[]>();

  add(source: string, ...texts: readonly string[]): void {
    this.#texts.set(source, [...(this.#texts.get(source) ?? []), ...texts]);
  }

  /** addError adds an error with everything that belongs to it. */
  addError(error: unknown): void {
    this.add('thrown errors', inspect(error, { depth: 10, showHidden: true, maxStringLength: null }));
  }

  /** addProcess adds the arguments and the environment of a process and of those that it has started. */
  async addProcess(source: string, pid: number): Promise<void> {
    for (const each of [pid, ...(await childrenOf(pid))]) {
      const read = (name: string): Promise<string> => readFile(`/proc/${each}/${name}`, 'latin1').catch(() => '');
      this.add(`arguments of ${source}`, await read('cmdline'));
      this.add(`environment of ${source}`, await read('environ'));
    }
  }

  /** addFiles adds the content of all files in a folder, except for some. */
  async addFiles(source: string, folder: string, but: readonly string[] = []): Promise<void> {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !but.includes(path)) this.add(source, `${path}\n${await readFile(path, 'latin1')}`);
    }
  }

  /** The texts by source. */
  get texts(): ReadonlyMap<string, string> {
    return new Map([...this.#texts].map(([source, texts]) => [source, texts.join('\n')]));
  }

  /** leaks returns an excerpt for each canary in each source, by source. */
  leaks(): Readonly<Record<string, readonly string[]>> {
    const found = [...this.texts].map(([source, text]) => [source, leaksOf(text, Object.values(CANARIES))] as const);
    return Object.fromEntries(found.filter(([, leaks]) => leaks.length > 0));
  }
}

/** childrenOf returns the processes that a process has started. */
export async function childrenOf(parent: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '');
  return children.split(' ').flatMap((pid) => (pid === '' ? [] : [Number(pid)]));
}

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
