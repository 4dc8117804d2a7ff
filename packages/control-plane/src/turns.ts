import { BowlineError } from '@bowline/machinery';

/**
 * Turns runs restarts and kills of a control plane one after the other: two at once on one component would conflict.
 */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  /** take waits for its turn, and is refused once the control plane has been stopped. */
  take(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(() => {
      if (this.#isOver) {
        throw new BowlineError('BOWLINE_CONTROL_PLANE_GONE', 'the control plane has been stopped; start another one');
      }
      return work();
    });
    this.#last = result.catch(() => {});
    return result;
  }

  /** refuse rejects every later turn. */
  refuse(): void {
    this.#isOver = true;
  }

  /** settled resolves when the last turn has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
