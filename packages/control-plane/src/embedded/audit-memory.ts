import type { AuditEvent } from '../server/audit/audit-event.ts';

/**
 * AuditMemory keeps the latest audit events of a control plane that no other process sees. As text: what an event is made of
 * would keep the requests that it was read from.
 */
export class AuditMemory {
  readonly #mostBytes: number;
  /** Two halves, the older one of which goes when the other is full: to drop single events would move all others each time. */
  #older: string[] = [];
  #newer: string[] = [];
  #newerBytes = 0;

  /** Keeps between half of `mostBytes` and all of it. Defaults to 8 MiB, which is about 10,000 requests. */
  constructor(mostBytes = 8 * 1024 * 1024) {
    this.#mostBytes = mostBytes;
  }

  write(event: AuditEvent): void {
    const text = JSON.stringify(event);
    if (this.#newerBytes + text.length > this.#mostBytes / 2) {
      this.#older = this.#newer;
      this.#newer = [];
      this.#newerBytes = 0;
    }
    this.#newer.push(text);
    this.#newerBytes += text.length;
  }

  /** since are the events whose stage was reached at or after a time. */
  since(time: number): readonly AuditEvent[] {
    return [...this.#older, ...this.#newer]
      .map((text) => JSON.parse(text) as AuditEvent)
      .filter(({ stageTimestamp }) => Date.parse(stageTimestamp) >= time);
  }
}
