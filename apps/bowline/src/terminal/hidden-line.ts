import type { ReadStream } from 'node:tty';

const CTRL_C = 0x03;
const CTRL_D = 0x04;
const BACKSPACE = 0x08;
const CTRL_U = 0x15;
const ESCAPE = 0x1b;
const DELETE = 0x7f;
const NEWLINES: ReadonlySet<number> = new Set([0x0a, 0x0d]);

/** LineState reports whether a line is being typed, was completed, or was interrupted with Ctrl-C. */
export type LineState = 'open' | 'complete' | 'interrupted';

/**
 * HiddenLine collects the bytes that a user types until Enter. The terminal is in raw mode, so it implements the keys
 * that edit a line: Backspace and Ctrl-U. Other keys that type no character are ignored.
 */
export class HiddenLine {
  readonly #bytes: Buffer;
  #length = 0;
  #isTooLong = false;
  /** Whether bytes of an escape sequence, such as an arrow key, are being skipped. */
  #escape: 'none' | 'started' | 'sequence' = 'none';

  constructor(maxBytes: number) {
    this.#bytes = Buffer.alloc(maxBytes);
  }

  /** push takes a chunk, and returns the state and how many bytes it used. */
  push(chunk: Uint8Array): { readonly state: LineState; readonly used: number } {
    for (const [at, byte] of chunk.entries()) {
      if (this.#skips(byte)) continue;
      const used = at + 1;
      if (byte === CTRL_C) return { state: 'interrupted', used };
      if (byte === CTRL_D || NEWLINES.has(byte)) return { state: 'complete', used };
      this.#type(byte);
    }
    return { state: 'open', used: chunk.length };
  }

  /** take returns the line, or undefined if it is too long, and erases it. */
  take(): Buffer | undefined {
    const line = this.#isTooLong ? undefined : Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#bytes.fill(0);
    this.#length = 0;
    return line;
  }

  #skips(byte: number): boolean {
    if (this.#escape === 'started') {
      // `ESC [` and `ESC O` start a sequence; after another byte the key is complete.
      this.#escape = byte === 0x5b || byte === 0x4f ? 'sequence' : 'none';
      return true;
    }
    if (this.#escape === 'sequence') {
      if (byte >= 0x40 && byte <= 0x7e) this.#escape = 'none';
      return true;
    }
    if (byte === ESCAPE) this.#escape = 'started';
    return byte === ESCAPE;
  }

  #type(byte: number): void {
    if (byte === CTRL_U) this.#length = 0;
    else if (byte === DELETE || byte === BACKSPACE) this.#removeCharacter();
    else if (byte < 0x20) return;
    else if (this.#length === this.#bytes.length) this.#isTooLong = true;
    else this.#bytes[this.#length++] = byte;
  }

  #removeCharacter(): void {
    // The bytes of a UTF-8 character after the first are 10xxxxxx.
    do this.#length = Math.max(0, this.#length - 1);
    while (this.#length > 0 && ((this.#bytes[this.#length] ?? 0) & 0xc0) === 0x80);
  }
}

/** HiddenLineOptions configures where a hidden line is read. */
export interface HiddenLineOptions {
  readonly input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause' | 'unshift'>;
  readonly output: { write(text: string): unknown };
  readonly maxBytes: number;
  /** interrupt sends SIGINT to this process, which the terminal does not do in raw mode. */
  readonly interrupt: () => void;
  readonly signal: AbortSignal;
}

/** readHiddenLine asks a question and reads the answer without displaying it. It returns undefined if it is too long. */
export function readHiddenLine(question: string, options: HiddenLineOptions): Promise<Buffer | undefined> {
  const { input, output, maxBytes, interrupt, signal } = options;
  const line = new HiddenLine(maxBytes);
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void): void => {
      input.off('data', onData);
      input.off('end', onEnd);
      signal.removeEventListener('abort', onAbort);
      input.setRawMode(false);
      // A stream that flows keeps the process alive.
      input.pause();
      output.write('\n');
      settle();
    };
    const onEnd = (): void => finish(() => resolve(line.take()));
    const onAbort = (): void => {
      line.take();
      finish(() => reject(signal.reason));
    };
    const onData = (chunk: Buffer): void => {
      const { state, used } = line.push(chunk);
      // Text that was pasted after the line is the answer to the next question.
      const rest = Buffer.from(chunk.subarray(used));
      chunk.fill(0);
      if (state === 'interrupted') interrupt();
      if (state !== 'complete') return;
      finish(() => resolve(line.take()));
      if (rest.length > 0) input.unshift(rest);
    };
    if (signal.aborted) return reject(signal.reason);
    // First: the terminal would display what is typed between the question and this.
    input.setRawMode(true);
    output.write(question);
    input.on('data', onData);
    input.on('end', onEnd);
    signal.addEventListener('abort', onAbort);
    input.resume();
  });
}
