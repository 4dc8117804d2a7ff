import { fitsHeader, formatHeader, formatPath, paddingOf, TAR_BLOCK } from './tar-format.ts';

/** TarFile is a file to archive. */
export interface TarFile {
  readonly path: string;
  readonly size: number;
  readonly mode: number;
  /** Exactly `size` bytes. */
  readonly content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** writeTar yields the bytes of a tar archive. It throws if a file does not have its size: it changed while it was read. */
export async function* writeTar(files: AsyncIterable<TarFile>): AsyncGenerator<Uint8Array> {
  for await (const { path, size, mode, content } of files) {
    if (!fitsHeader(path)) {
      const attributes = formatPath(path);
      yield formatHeader({ path: 'attributes', size: attributes.length, mode: 0o644, type: 'x' });
      yield attributes;
      yield Buffer.alloc(paddingOf(attributes.length));
    }
    yield formatHeader({ path: fitsHeader(path) ? path : 'file', size, mode, type: '0' });
    let written = 0;
    for await (const chunk of content) {
      written += chunk.length;
      if (written > size) break;
      yield chunk;
    }
    if (written !== size) throw new Error(`${path} changed while it was archived`);
    yield Buffer.alloc(paddingOf(size));
  }
  yield Buffer.alloc(2 * TAR_BLOCK);
}
