import { paddingOf, parseHeader, parsePath, TAR_BLOCK } from './tar-format.ts';

/** TarMember is a file of an archive. */
export interface TarMember {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** What is not read is skipped. */
  readonly content: AsyncIterable<Buffer>;
}

/** More than the longest path. */
const MAX_ATTRIBUTES_BYTES = 8 * 1024;

/**
 * readTar yields the files of an archive that `writeTar` wrote. It throws for anything else: links, folders and other formats are
 * not what a snapshot contains. Paths are not checked here.
 */
export async function* readTar(bytes: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const source = new ByteStream(bytes);
  for (;;) {
    const block = await source.exactly(TAR_BLOCK);
    if (block.every((byte) => byte === 0)) return;
    const attributes = parseHeader(block);
    if (attributes === undefined) throw damaged('a header is not valid');
    let header = attributes;
    let path = attributes.path;
    if (attributes.type === 'x') {
      if (attributes.size > MAX_ATTRIBUTES_BYTES) throw damaged('a path is too long');
      const parsed = parsePath(await source.exactly(attributes.size));
      await source.exactly(paddingOf(attributes.size));
      const next = parseHeader(await source.exactly(TAR_BLOCK));
      if (parsed === undefined || next?.type !== '0') throw damaged('the attributes of a file are not valid');
      header = next;
      path = parsed;
    }
    const content = source.take(header.size);
    yield { path, size: header.size, mode: header.mode, content };
    for await (const _rest of content);
    await source.exactly(paddingOf(header.size));
  }
}

class ByteStream {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.take(size)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** take yields the next bytes. A second iteration continues where the first one stopped. */
  take(size: number): AsyncIterable<Buffer> {
    let left = size;
    const next = async (): Promise<IteratorResult<Buffer, undefined>> => {
      if (left === 0) return { done: true, value: undefined };
      while (this.#rest.length === 0) {
        const { done, value } = await this.#chunks.next();
        if (done) throw damaged('it ends too early');
        this.#rest = value;
      }
      const value = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(value.length);
      left -= value.length;
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }
}

function damaged(problem: string): Error {
  return new Error(`the archive is damaged: ${problem}`);
}
