import type { AuditEvent } from '../server/audit/audit-event.ts';

const MOST_EVENTS = 50_000;

/**
 * AuditMemory keeps the latest audit events of a control plane that no other process sees. As text: what an event is made of
 * would keep the requests that it was read from.
 */
export class AuditMemory {
  #events: string[] = [];

  write(event: AuditEvent): void {
    this.#events.push(JSON.stringify(event));
    // Half of them at once: to drop one at a time would copy all of them each time.
    if (this.#events.length >= 2 * MOST_EVENTS) this.#events = this.#events.slice(MOST_EVENTS);
  }

  /** since are the events whose stage was reached at or after a time. */
  since(time: number): readonly AuditEvent[] {
    return this.#events
      .map((text) => JSON.parse(text) as AuditEvent)
      .filter(({ stageTimestamp }) => Date.parse(stageTimestamp) >= time);
  }
}
