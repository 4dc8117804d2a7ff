import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import { auditLogName, fullAuditLogs } from '../audit/audit-log.ts';
import type { AuditEvent } from '../server/audit/audit-event.ts';

/** AuditFileOptions bound what is kept. */
export interface AuditFileOptions {
  /** How much a file holds. Defaults to 8 MiB, which is about 10,000 requests. */
  readonly mostBytes?: number | undefined;
  /** How many full files are kept beside the one that is written. Defaults to 3. */
  readonly mostFull?: number | undefined;
}

/**
 * AuditFile keeps the latest audit events in a folder, one line each, as the real server does: other processes can read them.
 * The write is done when `write` returns, so that an answer is in the log before its client has it. Full files of earlier
 * runs count like those of this one.
 */
export class AuditFile implements Disposable {
  readonly #folder: string;
  readonly #mostBytes: number;
  readonly #mostFull: number;
  /** The names of the full files, oldest first. */
  readonly #full: string[];
  #file: number | undefined;
  #bytes: number;

  constructor(folder: string, { mostBytes = 8 * 1024 * 1024, mostFull = 3 }: AuditFileOptions = {}) {
    this.#folder = folder;
    this.#mostBytes = mostBytes;
    this.#mostFull = mostFull;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#full = fullAuditLogs(readdirSync(folder));
    this.#removeOldest();
    this.#file = this.#open();
    this.#bytes = fstatSync(this.#file).size;
  }

  /** write throws when the event cannot be kept; the next one may be. */
  write(event: AuditEvent): void {
    // Watches end after the log, when everything does.
    if (this.#file === undefined) return;
    const line = `{"kind":"Event","apiVersion":"audit.k8s.io/v1",${JSON.stringify(event).slice(1)}\n`;
    const isFull = this.#bytes > 0 && this.#bytes + Buffer.byteLength(line) > this.#mostBytes;
    try {
      // First: a log that cannot be moved aside must not grow instead.
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
    // The number of a closed file may be that of another one by the next write.
    this.#file = undefined;
    if (file !== undefined) closeSync(file);
  }

  #open(): number {
    return openSync(join(this.#folder, auditLogName), 'a', 0o600);
  }

  /**
   * A full file is moved aside under the time of the next event, so that names sort by age. It is closed once there is another
   * one to write to: whatever fails on the way, `#file` is a file that is open, and the one that has the log's name.
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
    for (let [oldest] = this.#full; oldest !== undefined && this.#full.length > this.#mostFull; [oldest] = this.#full) {
      rmSync(join(this.#folder, oldest), { force: true });
      this.#full.shift();
    }
  }
}
