import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import { auditLogName, fullAuditLogs } from '../audit/audit-log.ts';
import type { AuditEvent } from '../server/audit/audit-event.ts';

/** AuditFileOptions limits what is kept. */
export interface AuditFileOptions {
  /** The maximum size of a file. Defaults to 8 MiB, which is about 10,000 requests. */
  readonly maxBytes?: number | undefined;
  /** The number of rotated files to keep besides the current one. Defaults to 3. */
  readonly maxRotated?: number | undefined;
}

/**
 * AuditFile keeps the latest audit events in a folder, one line each, like the real server, so that other processes can read
 * them. The write is complete when `write` returns, so that a request is in the log before its client gets the response. Rotated
 * files of earlier runs count like those of this one.
 */
export class AuditFile implements Disposable {
  readonly #folder: string;
  readonly #maxBytes: number;
  readonly #maxRotated: number;
  /** The names of the rotated files, oldest first. */
  readonly #full: string[];
  #file: number | undefined;
  #bytes: number;

  constructor(folder: string, { maxBytes = 8 * 1024 * 1024, maxRotated = 3 }: AuditFileOptions = {}) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
    this.#maxRotated = maxRotated;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#full = fullAuditLogs(readdirSync(folder));
    this.#removeOldest();
    this.#file = this.#open();
    this.#bytes = fstatSync(this.#file).size;
  }

  /** write throws if the event cannot be written; the next one may succeed. */
  write(event: AuditEvent): void {
    // Watches may end after the log is closed.
    if (this.#file === undefined) return;
    const line = `{"kind":"Event","apiVersion":"audit.k8s.io/v1",${JSON.stringify(event).slice(1)}\n`;
    const isFull = this.#bytes > 0 && this.#bytes + Buffer.byteLength(line) > this.#maxBytes;
    try {
      // Rotate first: a log that cannot be rotated must not grow instead.
      const file = isFull ? this.#rotate(this.#file, event) : this.#file;
      this.#bytes += writeSync(file, line);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new BowlineError(
        'BOWLINE_AUDIT_WRITE',
        `cannot write to the audit log in ${this.#folder}, so requests are missing from it: ${why}; free space or restore access to the folder`,
        { cause: error },
      );
    }
  }

  [Symbol.dispose](): void {
    const file = this.#file;
    // The descriptor of a closed file may be reused by another file before the next write.
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  #open(): number {
    return openSync(join(this.#folder, auditLogName), 'a', 0o600);
  }

  /**
   * #rotate renames a full file to the time of the next event, so that names sort by age. It closes the file once there is
   * another one to write to: whatever fails on the way, `#file` is an open file with the log's name.
   */
  #rotate(full: number, { stageTimestamp, auditID }: AuditEvent): number {
    const name = `audit-${stageTimestamp.replaceAll(':', '-')}-${auditID}.log`;
    const [current, aside] = [join(this.#folder, auditLogName), join(this.#folder, name)];
    renameSync(current, aside);
    let next: number;
    try {
      next = this.#open();
    } catch (error) {
      renameSync(aside, current);
      throw error;
    }
    this.#file = next;
    this.#bytes = 0;
    this.#full.push(name);
    closeSync(full);
    this.#removeOldest();
    return next;
  }

  #removeOldest(): void {
    for (
      let [oldest] = this.#full;
      oldest !== undefined && this.#full.length > this.#maxRotated;
      [oldest] = this.#full
    ) {
      rmSync(join(this.#folder, oldest), { force: true });
      this.#full.shift();
    }
  }
}
