/** SnapshotStore keeps the archives of one gateway, and their index. */
export interface SnapshotStore {
  /** readIndex returns the text of the index; undefined if there is none. */
  readIndex(signal: AbortSignal): Promise<string | undefined>;
  writeIndex(text: string, signal: AbortSignal): Promise<void>;
  /** put stores a complete archive, which is a file on the volume of the gateway. It may be moved. */
  put(name: string, archive: StoredArchive, signal: AbortSignal): Promise<void>;
  /** get returns the path of a file with the content of an archive. It may be written to `target`. */
  get(name: string, target: string, signal: AbortSignal): Promise<string>;
  /** remove removes an archive, if it exists. */
  remove(name: string, signal: AbortSignal): Promise<void>;
}

/** StoredArchive is a complete archive. */
export interface StoredArchive {
  readonly path: string;
  readonly size: number;
  /** The SHA-256 of its content, in hex. */
  readonly checksum: string;
}
