import { EventEmitter, on } from 'node:events';

/** Pushes to more distinct repositories than this are dropped; the periodic check of the controller finds them. */
const MAX_WAITING = 10_000;

/**
 * Pushes passes changed repositories from a receiver to the controller. A repository that is already waiting is not added
 * again: one more reconcile is enough.
 */
export class Pushes {
  readonly #waiting = new Set<string>();
  readonly #emitter = new EventEmitter();

  /** add reports that a repository has changed. */
  add(repository: string): void {
    if (this.#waiting.size < MAX_WAITING) this.#waiting.add(repository);
    this.#emitter.emit('added');
  }

  /** follow yields the repositories that change, until the signal is aborted. */
  async *follow(signal: AbortSignal): AsyncGenerator<string> {
    const added = on(this.#emitter, 'added', { signal });
    for (;;) {
      for (const repository of this.#waiting) {
        this.#waiting.delete(repository);
        yield repository;
      }
      await added.next();
    }
  }
}
