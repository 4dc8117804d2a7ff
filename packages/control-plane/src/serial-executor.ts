import { BowlineError } from '@bowline/machinery';

/**
 * SerialExecutor runs restarts and kills of a control plane one after the other: two at once on one component would conflict.
 */
export class SerialExecutor {
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;

  /** run waits for its turn, and is refused once the control plane has been stopped. */
  run(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(() => {
      if (this.#isOver) {
        throw new BowlineError('BOWLINE_CONTROL_PLANE_GONE', 'the control plane has been stopped; start another one');
      }
      return work();
    });
    this.#last = result.catch(() => {});
    return result;
  }

  /** close rejects every later turn. */
  close(): void {
    this.#isOver = true;
  }

  /** settled resolves when the last turn has ended. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
