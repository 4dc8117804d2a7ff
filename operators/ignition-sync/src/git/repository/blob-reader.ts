import type { GitProcess } from '../runner/git-process.ts';
import type { GitRunner } from '../runner/git-runner.ts';
import { ByteSource, MAX_HEADER_BYTES, sizeOf } from './read-blobs.ts';

/** A record of `cat-file --batch-check` with our format; a missing object has another form. */
const CHECK = /^([0-9a-f]{40}) blob (\d+)$/;

/** The number of blobs that git may prepare before they are read. It waits when its output is full. */
const MAX_AHEAD = 8;

/**
 * BlobReader reads the blobs of a repository one after the other, in any order, from one git process: starting a process for each
 * blob would take longer than reading it. Only one blob is read at a time. A blob that is not read to its end, or another one than
 * was announced, ends the process, and the next one starts another.
 */
export class BlobReader implements AsyncDisposable {
  readonly #runner: GitRunner;
  readonly #gitDir: string;
  #batch: { readonly process: GitProcess; readonly output: ByteSource } | undefined;
  /** The blobs that git was asked for ahead, and those that are expected after them. */
  readonly #ahead: string[] = [];
  #announced: string[] = [];

  /** The runner's timeout is that of the process, so it must suffice for all blobs. */
  constructor(runner: GitRunner, gitDir: string) {
    this.#runner = runner;
    this.#gitDir = gitDir;
  }

  /** sizes returns the sizes of the blobs that are in the repository. No remote is asked. */
  async sizes(hashes: Iterable<string>, signal?: AbortSignal): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    const input = Array.from(hashes, (hash) => `${hash}\n`);
    if (input.length === 0) return sizes;
    const args = ['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)', '--buffer'];
    for await (const record of this.#runner.records({ args, gitDir: this.#gitDir, input, signal }, '\n')) {
      const [, hash, size] = CHECK.exec(record.toString('latin1')) ?? [];
      if (hash !== undefined) sizes.set(hash, Number(size));
    }
    return sizes;
  }

  /** announce sets the blobs that are opened next, in this order, so that git reads one while another one is used. */
  announce(hashes: readonly string[]): void {
    this.#announced = [...hashes];
  }

  /** open streams one blob. It throws CommitGone if the blob is missing. */
  async *open(hash: string, signal?: AbortSignal): AsyncGenerator<Buffer> {
    signal?.throwIfAborted();
    const { process, output } = await this.#request(hash);
    const onAbort = (): void => process.stop(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    let isComplete = false;
    try {
      yield* output.take(sizeOf(await output.line(MAX_HEADER_BYTES), hash));
      await output.line(1);
      isComplete = true;
    } catch (error) {
      signal?.throwIfAborted();
      // The reason why git ended explains more than that its output did; it is undefined for any other failure.
      process.stop(error);
      await process.ended;
      throw error;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      if (!isComplete) await this.#stop();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }

  /** Requests a blob, unless that was done ahead, and some of the announced ones after it. */
  async #request(hash: string): Promise<{ readonly process: GitProcess; readonly output: ByteSource }> {
    const isAhead = this.#ahead[0] === hash;
    if (isAhead) this.#ahead.shift();
    else {
      if (this.#ahead.length > 0) await this.#stop();
      this.#announced = this.#announced[0] === hash ? this.#announced.slice(1) : [];
    }
    this.#batch ??= this.#start();
    const next = this.#announced.splice(0, MAX_AHEAD - this.#ahead.length);
    this.#ahead.push(...next);
    const lines = [...(isAhead ? [] : [hash]), ...next].map((each) => `${each}\n`);
    if (lines.length > 0) this.#batch.process.stdin.write(lines.join(''));
    return this.#batch;
  }

  #start(): { readonly process: GitProcess; readonly output: ByteSource } {
    // Without a buffer git writes each blob as soon as it is requested.
    const process = this.#runner.start({ args: ['cat-file', '--batch'], gitDir: this.#gitDir });
    return { process, output: new ByteSource(process.stdout as AsyncIterable<Buffer>) };
  }

  async #stop(): Promise<void> {
    const batch = this.#batch;
    this.#batch = undefined;
    this.#ahead.length = 0;
    batch?.process.stop(new Error('the blobs are no longer needed'));
    await batch?.process.ended.catch(() => undefined);
  }
}
