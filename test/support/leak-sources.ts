import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { leaksOf } from './traces.ts';

/** LeakSources collects texts by where they were found, and searches them for values that must not appear in them. */
export class LeakSources {
  readonly #texts = new Map<string, string[]>();
  readonly #values: readonly string[];

  constructor(values: readonly string[]) {
    this.#values = values;
  }

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

  /** leaks returns an excerpt for each value in each source, by source. */
  leaks(): Readonly<Record<string, readonly string[]>> {
    const found = [...this.texts].map(([source, text]) => [source, leaksOf(text, this.#values)] as const);
    return Object.fromEntries(found.filter(([, leaks]) => leaks.length > 0));
  }
}

/** childrenOf returns the processes that a process has started. */
export async function childrenOf(parent: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${parent}/task/${parent}/children`, 'utf8').catch(() => '');
  return children.split(' ').flatMap((pid) => (pid === '' ? [] : [Number(pid)]));
}
