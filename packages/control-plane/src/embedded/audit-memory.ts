import type { AuditEvent } from '../server/audit/audit-event.ts';

/**
 * AuditMemory keeps the latest audit events of a control plane that no other process can access. They are kept as text because
 * event objects would keep the requests they refer to in memory.
 */
export class AuditMemory {
  readonly #maxBytes: number;
  /**
   * Two halves; the older one is dropped when the newer one is full, because dropping single events would move all others each
   * time.
   */
  #older: string[] = [];
  #newer: string[] = [];
  #newerBytes = 0;

  /** Keeps between half of `maxBytes` and `maxBytes`. Defaults to 8 MiB, which is about 10,000 requests. */
  constructor(maxBytes = 8 * 1024 * 1024) {
    this.#maxBytes = maxBytes;
  }

  write(event: AuditEvent): void {
    const text = JSON.stringify(event);
    if (this.#newerBytes + text.length > this.#maxBytes / 2) {
      this.#older = this.#newer;
      this.#newer = [];
      this.#newerBytes = 0;
    }
    this.#newer.push(text);
    this.#newerBytes += text.length;
  }

  /** since returns the events whose stage was reached at or after a time. */
  since(time: number): readonly AuditEvent[] {
    return [...this.#older, ...this.#newer]
      .map((text) => JSON.parse(text) as AuditEvent)
      .filter(({ stageTimestamp }) => Date.parse(stageTimestamp) >= time);
  }
}
