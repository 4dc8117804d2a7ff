import { setMaxListeners } from 'node:events';
import type { QueueItem } from '../queue/queue-options.ts';

/** Run is one reconcile of one key, from its start until its promise has settled. */
export class Run {
  readonly item: QueueItem;
  /** Unique within the process; it is on every log line of the run. */
  readonly id: string;
  /** Monotonic time. */
  readonly startedAt: number;
  /** Set when the run has timed out. */
  overdue = false;
  /** Called when the run releases its slot. */
  onFree: (() => void) | undefined;
  #controller: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

  constructor(item: QueueItem, id: string, startedAt: number) {
    this.item = item;
    this.id = id;
    this.startedAt = startedAt;
  }

  /** signal is created on first use: most runs never wait for anything. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // A reconcile may have many requests in flight; Node warns about a leak at eleven.
      setMaxListeners(0, this.#controller.signal);
      if (this.#aborted) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = { reason };
    this.#controller?.abort(reason);
  }
}
