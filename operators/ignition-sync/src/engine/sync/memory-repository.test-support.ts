import { blobId } from '../tree/blob-id.ts';
import type { TreeEntry } from '../tree/tree-entry.ts';
import type { BlobSource } from './blob-source.ts';

/** MemoryFile is a file of a commit: its content, or its content and mode. */
export type MemoryFile = string | Uint8Array | { readonly content: string | Uint8Array; readonly mode: string };

/** MemoryRepository holds blobs in memory. */
export class MemoryRepository implements BlobSource {
  readonly #blobs = new Map<string, Buffer>();
  readonly #chunkBytes: number;
  /** The blobs that were opened, in order. */
  readonly opened: string[] = [];

  /** Blobs are streamed in chunks of at most this size. */
  constructor(chunkBytes = 65_536) {
    this.#chunkBytes = chunkBytes;
  }

  /** commit stores files and returns their listing. */
  commit(files: Readonly<Record<string, MemoryFile>> | ReadonlyMap<string, MemoryFile>): TreeEntry[] {
    const entries = files instanceof Map ? [...files] : Object.entries(files);
    return entries.map(([path, file]: [string, MemoryFile]) => {
      const { content, mode } =
        typeof file === 'string' || file instanceof Uint8Array ? { content: file, mode: '100644' } : file;
      const bytes = Buffer.from(content);
      const blob = blobId(bytes);
      this.#blobs.set(blob, bytes);
      return { path, mode, blob };
    });
  }

  async prepare(blobs: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    return new Map(Array.from(blobs, (blob) => [blob, this.#content(blob).length]));
  }

  async *open(blob: string): AsyncGenerator<Uint8Array> {
    this.opened.push(blob);
    const content = this.#content(blob);
    for (let start = 0; start < content.length; start += this.#chunkBytes)
      yield content.subarray(start, start + this.#chunkBytes);
  }

  #content(blob: string): Buffer {
    const content = this.#blobs.get(blob);
    if (content === undefined) throw new Error(`the repository has no blob ${blob}`);
    return content;
  }
}
