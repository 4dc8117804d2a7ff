import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { BowlineError } from '@bowline/runtime';
import {
  type CommandInput,
  type CommandInputs,
  type CommandManifest,
  inputFlagName,
  type KeyedContent,
  type Command as OperatorCommand,
} from '@bowline/runtime/manager';
import { type Command, Option } from 'commander';
import type { Io } from '../terminal/io.ts';
import { readBounded } from '../terminal/read-bounded.ts';

/** The file name that stands for standard input. */
const STANDARD_INPUT = '-';

type InputValue = Buffer | readonly KeyedContent[] | readonly CommandManifest[] | undefined;

/** Inputs holds the contents of a command's inputs until it is disposed of: then they are overwritten with zeros. */
export interface Inputs extends Disposable {
  readonly values: Readonly<Record<string, InputValue>>;
}

/** inputOptions returns the options that select the files of a command's inputs. */
export function inputOptions({ inputs, args }: Pick<OperatorCommand, 'inputs' | 'args'>): readonly Option[] {
  return Object.entries(inputs).map(([name, input]) => {
    // Variadic options of commander also take the arguments that follow. A shell expands `-f *.yaml` to several files.
    const isVariadic = input.manifests === true && Object.keys(args).length === 0;
    const flags = `${input.manifests ? '-f, ' : ''}--${inputFlagName(name, input)} <file${isVariadic ? '...' : ''}>`;
    const option = new Option(flags, helpOf(input)).hideHelp(input.hidden ?? false);
    const isRepeatable = input.keyed ?? input.manifests ?? false;
    return isRepeatable
      ? option.argParser((file: string, before: readonly string[] = []) => [...before, file])
      : option;
  });
}

function helpOf({ summary, prompt, optional, keyed, manifests }: CommandInput): string {
  if (manifests) return `${summary}: YAML or JSON files, or - for standard input (required; can be repeated)`;
  if (keyed) return `${summary}: [KEY=]FILE, KEY=- for standard input (can be repeated)`;
  const otherwise = prompt === undefined ? '' : ' (default: asks on the terminal)';
  return `${summary}: a file, or - for standard input${otherwise}${optional || prompt !== undefined ? '' : ' (required)'}`;
}

/**
 * readInputs reads the inputs of a command from their files, standard input or the terminal. Throws
 * BOWLINE_INPUT_INVALID, or BOWLINE_TERMINAL_MISSING; no message contains content.
 */
export async function readInputs(inputs: CommandInputs, parsed: Command, io: Io, signal: AbortSignal): Promise<Inputs> {
  const reader = new InputReader(io, signal);
  try {
    const values: Record<string, InputValue> = {};
    for (const [name, input] of Object.entries(inputs)) {
      const flag = inputFlagName(name, input);
      const given = parsed.getOptionValue(new Option(`--${flag} <file>`).attributeName()) as unknown;
      const files = (given ?? []) as readonly string[];
      if (input.manifests) values[name] = await reader.manifests(flag, input, files);
      else if (input.keyed) values[name] = await reader.keyed(flag, input, files);
      else values[name] = await reader.single(flag, input, given as string | undefined);
    }
    return { values, [Symbol.dispose]: () => reader.erase() };
  } catch (error) {
    reader.erase();
    throw error;
  }
}

/** InputReader reads the inputs of one command, and remembers the contents to erase. */
class InputReader {
  readonly #io: Io;
  readonly #signal: AbortSignal;
  readonly #contents: Buffer[] = [];
  #stdinFlag: string | undefined;

  constructor(io: Io, signal: AbortSignal) {
    this.#io = io;
    this.#signal = signal;
  }

  erase(): void {
    for (const content of this.#contents) content.fill(0);
  }

  async single(flag: string, input: CommandInput, file: string | undefined): Promise<Buffer | undefined> {
    const { prompt, optional = false, maxBytes } = input;
    if (file !== undefined) {
      const content = await this.#read(flag, file, maxBytes, maxBytes);
      return prompt === undefined ? content : nonEmpty(withoutLineEnd(content), `--${flag} ${file}`);
    }
    if (prompt !== undefined) return await this.#ask(flag, prompt, maxBytes);
    if (optional) return undefined;
    throw invalid(`--${flag} is missing; pass a file, or - for standard input`);
  }

  async keyed(flag: string, { maxBytes }: CommandInput, given: readonly string[]): Promise<readonly KeyedContent[]> {
    const contents = new Map<string, Buffer>();
    let left = maxBytes;
    for (const text of given) {
      const { key, file } = parseKeyed(flag, text);
      if (contents.has(key)) throw invalid(`--${flag} has the key ${JSON.stringify(key)} twice; rename one of them`);
      const content = await this.#read(flag, file, left, maxBytes);
      left -= content.length;
      contents.set(key, content);
    }
    return [...contents].map(([key, content]) => ({ key, content }));
  }

  async manifests(
    flag: string,
    { maxBytes }: CommandInput,
    given: readonly string[],
  ): Promise<readonly CommandManifest[]> {
    if (given.length === 0) throw invalid(`--${flag} is missing; pass files, or - for standard input`);
    // Most commands read no YAML, and start faster without the library.
    const { ManifestProblem, readManifests } = await import('./read-manifests.ts');
    const found: CommandManifest[] = [];
    let left = maxBytes;
    for (const file of given) {
      const content = await this.#read(flag, file, left, maxBytes);
      left -= content.length;
      try {
        found.push(...readManifests(file === STANDARD_INPUT ? 'standard input' : file, content.toString()));
      } catch (error) {
        if (!(error instanceof ManifestProblem)) throw error;
        throw invalid(error.message, error);
      }
    }
    if (found.length === 0) throw invalid(`there is no object in ${given.join(', ')}; pass files with manifests`);
    return found;
  }

  async #read(flag: string, file: string, limit: number, maxBytes: number): Promise<Buffer> {
    const content = await readBounded(this.#open(flag, file), limit, this.#signal).catch((error: unknown) => {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw invalid(`cannot read --${flag} ${file}: ${error.message}`, error);
    });
    if (!content) throw invalid(`--${flag} ${file} is too large: at most ${maxBytes} bytes are accepted`);
    this.#contents.push(content);
    return content;
  }

  #open(flag: string, file: string) {
    if (file !== STANDARD_INPUT) return createReadStream(file);
    if (this.#stdinFlag !== undefined) {
      throw invalid(`--${this.#stdinFlag} and --${flag} both read standard input; pass a file to one of them`);
    }
    this.#stdinFlag = flag;
    return this.#io.stdin();
  }

  async #ask(flag: string, prompt: string, maxBytes: number): Promise<Buffer> {
    const alternative = `pass --${flag} with a file, or - for standard input`;
    const answer = await askHidden(this.#io, { question: `${prompt}: `, alternative, maxBytes, signal: this.#signal });
    this.#contents.push(answer);
    return nonEmpty(answer, 'the answer');
  }
}

/** SecretQuestion is a question whose answer is not displayed. */
export interface SecretQuestion {
  readonly question: string;
  /** What to do if there is no terminal: `pass --yes`. */
  readonly alternative: string;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** askHidden reads a secret from the terminal. Throws BOWLINE_TERMINAL_MISSING if there is none. */
export async function askHidden(io: Io, { question, alternative, ...options }: SecretQuestion): Promise<Buffer> {
  const answer = await io.askHidden(question, options);
  if (answer === 'no-terminal') throw terminalMissing(question, alternative);
  if (answer === 'too-long') throw invalid(`the answer is too long: at most ${options.maxBytes} bytes are accepted`);
  return answer;
}

/** terminalMissing returns the error of a question that cannot be asked. */
export function terminalMissing(question: string, alternative: string): BowlineError {
  return new BowlineError(
    'BOWLINE_TERMINAL_MISSING',
    `cannot ask "${question.trim()}": standard input is not a terminal; ${alternative}`,
  );
}

function parseKeyed(flag: string, text: string): { readonly key: string; readonly file: string } {
  const at = text.indexOf('=');
  const file = text.slice(at + 1);
  const key = at < 0 ? basename(file) : text.slice(0, at);
  if (key === '' || file === '') throw invalid(`--${flag} ${text} is not [KEY=]FILE`);
  if (at < 0 && file === STANDARD_INPUT) throw invalid(`--${flag} - has no key; write KEY=-`);
  return { key, file };
}

function withoutLineEnd(content: Buffer): Buffer {
  if (content.at(-1) !== 0x0a) return content;
  return content.subarray(0, content.at(-2) === 0x0d ? -2 : -1);
}

function nonEmpty(content: Buffer, what: string): Buffer {
  if (content.length > 0) return content;
  throw invalid(`${what} is empty`);
}

function invalid(message: string, cause?: unknown): BowlineError {
  return new BowlineError('BOWLINE_INPUT_INVALID', message, cause === undefined ? {} : { cause });
}
