/** BlobSource provides the content of a repository. */
export interface BlobSource {
  /**
   * prepare makes blobs available, and returns their sizes in bytes. It is called with all blobs that a sync reads, so that they
   * can be fetched at once; a blob may be requested again.
   */
  prepare(blobs: ReadonlySet<string>, signal?: AbortSignal): Promise<ReadonlyMap<string, number>>;
  /**
   * announce is called with the blobs that will be opened next, in this order, so that they can be read ahead. Others may be opened
   * nevertheless. Defaults to nothing.
   */
  announce?(blobs: readonly string[]): void;
  /** open streams the content of a prepared blob. A chunk must stay unchanged after the next one is requested. */
  open(blob: string, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

/** LfsObject is what a pointer file of Git LFS stands for. */
export interface LfsObject {
  /** The SHA-256 of the content, in hex. */
  readonly oid: string;
  readonly size: number;
}

/** LfsSource provides the content of large files. The engine verifies what it returns. */
export interface LfsSource {
  open(object: LfsObject, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}
