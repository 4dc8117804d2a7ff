import { GitError } from '../errors/git-error.ts';
import type { GitCommand, GitRunner } from '../runner/git-runner.ts';

/** GitBlob is the content of a file. */
export interface GitBlob {
  readonly hash: string;
  readonly size: number;
  /** The content in pieces. What is not read is skipped when the next blob is requested. */
  readonly content: AsyncIterable<Buffer>;
}

/** A line of `cat-file --batch` before the content. */
const HEADER = /^([0-9a-f]{40}) (?:(\w+) (\d+)|missing)$/;
/** MAX_HEADER_BYTES is the maximum length of the line before the content of a blob. */
export const MAX_HEADER_BYTES = 256;

/**
 * readBlobs yields blobs in the order of their hashes from one git process, as fast as they are read: memory does not depend on
 * the size of a blob. A blob that is not in the repository is CommitGone: fetch it first.
 */
export async function* readBlobs(
  runner: GitRunner,
  command: Pick<GitCommand, 'gitDir' | 'signal'>,
  hashes: readonly string[],
): AsyncGenerator<GitBlob> {
  if (hashes.length === 0) return;
  // Without a buffer git writes each blob at once, so that it can be read before the last hash is written.
  const batch = { ...command, args: ['cat-file', '--batch'], input: lines(hashes) };
  yield* runner.stream(batch, (output) => blobsIn(output, hashes));
}

async function* blobsIn(output: AsyncIterable<Buffer>, hashes: readonly string[]): AsyncGenerator<GitBlob> {
  const source = new ByteSource(output);
  for (const hash of hashes) {
    const size = sizeOf(await source.line(MAX_HEADER_BYTES), hash);
    const content = source.take(size);
    yield { hash, size, content };
    for await (const _rest of content);
    await source.line(1);
  }
}

function* lines(hashes: readonly string[]): Generator<string> {
  for (const hash of hashes) yield `${hash}\n`;
}

/** sizeOf returns the size in the line before the content of a blob. It throws CommitGone if the blob is missing. */
export function sizeOf(header: string, hash: string): number {
  const [, found, type, size] = HEADER.exec(header) ?? [];
  if (found === hash && type === 'blob') return Number(size);
  throw new GitError('CommitGone', `a blob of the commit is ${type === undefined ? 'missing' : `a ${type}`}`, {
    remedy: 'fetch the commit again',
  });
}

/** ByteSource reads lines and counted bytes from a stream. */
export class ByteSource {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  /** line returns the bytes before the next line end. */
  async line(maxBytes: number): Promise<string> {
    let end = this.#rest.indexOf(10);
    while (end === -1 && this.#rest.length <= maxBytes) {
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf(10);
    }
    if (end === -1 || end > maxBytes) throw unexpected();
    const text = this.#rest.subarray(0, end).toString('latin1');
    this.#rest = this.#rest.subarray(end + 1);
    return text;
  }

  /** take yields the next bytes. A second iteration continues where the first one stopped. */
  take(size: number): AsyncIterable<Buffer> {
    let left = size;
    const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
      if (left === 0) return { done: true, value: undefined };
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const value = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(value.length);
      left -= value.length;
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  async #next(): Promise<Buffer> {
    const { done, value } = await this.#chunks.next();
    if (done) throw unexpected();
    return value;
  }
}

function unexpected(): GitError {
  return new GitError('GitFailed', 'git ended before the content of all files was read', { remedy: 'it is retried' });
}
