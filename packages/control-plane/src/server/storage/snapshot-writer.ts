import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { AppendFile } from './journal-file.ts';
import { partName, snapshotName } from './journal-files.ts';
import { FORMAT_VERSION, writeRecord } from './journal-record.ts';
import type { Stored } from './stored.ts';

/**
 * SnapshotWriter writes the objects that existed at one moment. States are immutable, so the writes can be spread over
 * time.
 */
export class SnapshotWriter {
  readonly #folder: string;
  readonly #generation: number;
  readonly #revision: number;
  readonly #objects: readonly (readonly [collection: string, Stored])[];
  #file: AppendFile | undefined;
  #written = 0;
  #isComplete = false;

  constructor(
    folder: string,
    generation: number,
    revision: number,
    objects: readonly (readonly [collection: string, Stored])[],
  ) {
    this.#folder = folder;
    this.#generation = generation;
    this.#revision = revision;
    this.#objects = objects;
  }

  /**
   * write appends about this many bytes, and reports whether the snapshot is complete. A failed write may be retried.
   */
  write(bytes: number): boolean {
    const part = join(this.#folder, partName(this.#generation));
    this.#file ??= new AppendFile(part, 0);
    if (!this.#isComplete) this.#append(this.#file, bytes);
    if (!this.#isComplete) return false;
    renameSync(part, join(this.#folder, snapshotName(this.#generation)));
    this.close();
    return true;
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #append(file: AppendFile, bytes: number): void {
    const lines: Buffer[] = [];
    if (file.size === 0) lines.push(writeRecord({ type: 'begin', version: FORMAT_VERSION, revision: this.#revision }));
    let size = 0;
    let at = this.#written;
    for (let next = this.#objects[at]; next && size < bytes; next = this.#objects[++at]) {
      const [collection, { revision, key, json }] = next;
      const line = writeRecord({ type: 'put', revision, collection, key, json });
      lines.push(line);
      size += line.length;
    }
    const isComplete = at === this.#objects.length;
    if (isComplete) lines.push(writeRecord({ type: 'end', count: at }));
    file.append(Buffer.concat(lines));
    this.#written = at;
    this.#isComplete = isComplete;
  }
}
