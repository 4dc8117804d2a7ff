/** The maximum size of one line. An object is at most a few megabytes (etcd's limit is 1.5 MB by default). */
export const DEFAULT_MAX_LINE_BYTES = 16 * 2 ** 20;

const NEWLINE = 10;

/**
 * LineSplitter cuts a stream of bytes into lines. It works on bytes, so a character split across two chunks needs no
 * special handling, and it copies only the one line per chunk that began in an earlier chunk.
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #keepEmpty: boolean;
  #parts: Uint8Array[] = [];
  #size = 0;

  /** `keepEmpty` passes empty lines on. They mean nothing in a watch but are part of a log. Defaults to false. */
  constructor(
    maxLineBytes: number = DEFAULT_MAX_LINE_BYTES,
    { keepEmpty = false }: { readonly keepEmpty?: boolean } = {},
  ) {
    this.#maxLineBytes = maxLineBytes;
    this.#keepEmpty = keepEmpty;
  }

  /** pendingBytes is the size of the line that has begun but not ended. */
  get pendingBytes(): number {
    return this.#size;
  }

  /** push calls `onLine` for each line that the chunk completes. Throws RangeError on a line longer than the limit. */
  push(chunk: Uint8Array, onLine: (line: string) => void): void {
    const bytes = asBuffer(chunk);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      const line = this.#size === 0 ? bytes.toString('utf8', start, end) : this.#join(bytes.subarray(start, end));
      start = end + 1;
      if (line !== '' || this.#keepEmpty) onLine(line);
    }
    if (start === bytes.length) return;
    this.#size += bytes.length - start;
    if (this.#size > this.#maxLineBytes) throw new RangeError(`a line is longer than ${this.#maxLineBytes} bytes`);
    this.#parts.push(start === 0 ? bytes : bytes.subarray(start));
  }

  /** rest returns the line that has begun but not ended; the splitter is empty afterwards. */
  rest(): string {
    return this.#size === 0 ? '' : this.#join(new Uint8Array(0));
  }

  #join(last: Uint8Array): string {
    const line = Buffer.concat([...this.#parts, last], this.#size + last.length).toString('utf8');
    this.#parts = [];
    this.#size = 0;
    return line;
  }
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
