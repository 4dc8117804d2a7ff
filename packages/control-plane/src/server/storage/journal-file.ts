import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { BowlineError } from '@bowline/machinery';

const CHUNK_BYTES = 1024 * 1024;
const LINE_END = 0x0a;

/** Line is one line of a file, without its terminator, and the offset of the next one. */
export interface Line {
  readonly bytes: Buffer;
  readonly next: number;
  /** Whether the file ends before the line does: its writer died. */
  readonly isTorn: boolean;
}

/** readLines returns the lines of a file; the bytes of a line are valid until the next one is requested. */
export function* readLines(path: string): Generator<Line> {
  const file = openSync(path, 'r');
  try {
    let rest = Buffer.alloc(0);
    let offset = 0;
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      const count = readSync(file, chunk, 0, CHUNK_BYTES, null);
      if (count === 0) break;
      const bytes = rest.length === 0 ? chunk.subarray(0, count) : Buffer.concat([rest, chunk.subarray(0, count)]);
      let start = 0;
      for (;;) {
        // The bytes before this were already searched.
        const end = bytes.indexOf(LINE_END, start === 0 ? rest.length : start);
        if (end < 0) break;
        yield { bytes: bytes.subarray(start, end), next: offset + end + 1, isTorn: false };
        start = end + 1;
      }
      offset += start;
      rest = Buffer.from(bytes.subarray(start));
    }
    if (rest.length > 0) yield { bytes: rest, next: offset + rest.length, isTorn: true };
  } finally {
    closeSync(file);
  }
}

/**
 * AppendFile is a file that grows by whole lines. A line that cannot be written completely is removed again: otherwise
 * what follows it would be read as damage.
 */
export class AppendFile {
  readonly #path: string;
  readonly #file: number;
  #size: number;
  /** Why no more lines can be written. */
  #broken: unknown;
  #isClosed = false;

  /** Opens a file at `size`: what follows is truncated. */
  constructor(path: string, size: number) {
    this.#path = path;
    this.#file = openSync(path, 'a', 0o600);
    this.#size = size;
    ftruncateSync(this.#file, size);
  }

  get size(): number {
    return this.#size;
  }

  /** append returns when the kernel has all bytes: they survive the end of this process. */
  append(bytes: Buffer): void {
    if (this.#broken !== undefined) throw this.#failure(this.#broken);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
    } catch (error) {
      this.#truncate(error);
      throw this.#failure(error);
    }
    this.#size += bytes.length;
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // By the next write, the descriptor of a closed file may belong to another file.
    this.#broken = new Error('the file is closed');
    closeSync(this.#file);
  }

  #truncate(cause: unknown): void {
    try {
      ftruncateSync(this.#file, this.#size);
    } catch {
      this.#broken = cause;
    }
  }

  #failure(cause: unknown): BowlineError {
    const why = cause instanceof Error ? cause.message : String(cause);
    return new BowlineError(
      'BOWLINE_JOURNAL_WRITE',
      `cannot write to ${this.#path}, so the change was not made: ${why}; free space or restore access to the data directory`,
      { cause, retryable: true },
    );
  }
}
