import { BowlineError } from '@bowline/machinery';

/** Turns lets restarts and kills of a control plane happen one after the other: two at once on one component would make no sense. */
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

  /** refuse lets nobody else have a turn. */
  refuse(): void {
    this.#isOver = true;
  }

  /** settled resolves when nobody has a turn any more. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
