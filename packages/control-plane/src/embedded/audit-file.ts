import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { auditLogName } from '../audit/audit-log.ts';
import type { AuditEvent } from '../server/audit/audit-event.ts';

const MOST_BYTES = 64 * 1024 * 1024;
const MOST_FULL_FILES = 4;

/**
 * AuditFile keeps audit events in a folder, one line each, as the real server does: other processes can read them. The
 * write is done when `write` returns, so that an answer is in the log before its client has it.
 */
export class AuditFile implements Disposable {
  readonly #folder: string;
  readonly #full: string[] = [];
  #file: number;
  #bytes: number;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#file = this.#open();
    this.#bytes = fstatSync(this.#file).size;
  }

  write(event: AuditEvent): void {
    const line = `{"kind":"Event","apiVersion":"audit.k8s.io/v1",${JSON.stringify(event).slice(1)}\n`;
    this.#bytes += writeSync(this.#file, line);
    if (this.#bytes > MOST_BYTES) this.#rotate(event);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  #open(): number {
    return openSync(join(this.#folder, auditLogName), 'a', 0o600);
  }

  /** A full file is moved aside under the time of its last event, so that names sort by age. */
  #rotate({ stageTimestamp, auditID }: AuditEvent): void {
    closeSync(this.#file);
    const name = join(this.#folder, `audit-${stageTimestamp.replaceAll(':', '-')}-${auditID}.log`);
    renameSync(join(this.#folder, auditLogName), name);
    this.#full.push(name);
    const oldest = this.#full.length > MOST_FULL_FILES ? this.#full.shift() : undefined;
    if (oldest !== undefined) rmSync(oldest, { force: true });
    this.#file = this.#open();
    this.#bytes = 0;
  }
}
