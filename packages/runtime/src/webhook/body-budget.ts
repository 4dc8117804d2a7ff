/** ArrivingBody is a body that can be paused: a readable stream. */
export interface ArrivingBody {
  pause(): unknown;
  resume(): unknown;
}

/** BodyShare is the share of one body in a budget, until it is disposed. */
export interface BodyShare extends Disposable {
  /** add counts bytes that have arrived. */
  add(bytes: number): void;
  /** complete records that the whole body has arrived. */
  complete(): void;
}

/**
 * BodyBudget limits the total size of bodies held at once, whether they are still arriving, queued or being processed.
 * While the limit is exceeded, all arriving bodies are paused except the first one: it must be able to complete, or
 * none would.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  /** In the order in which they started. */
  readonly #arriving = new Set<ArrivingBody>();
  #held = 0;
  #isFull = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** begin adds a body to the budget. */
  begin(body: ArrivingBody): BodyShare {
    let bytes = 0;
    this.#arriving.add(body);
    if (this.#isFull) this.#pauseOrResume();
    return {
      add: (more) => {
        bytes += more;
        this.#held += more;
        if (this.#held >= this.#maxBytes) this.#pauseOrResume();
      },
      complete: () => {
        this.#arriving.delete(body);
        if (this.#isFull) this.#pauseOrResume();
      },
      [Symbol.dispose]: () => {
        // The rest of the body must be read, even if only to be discarded.
        if (this.#arriving.delete(body) && this.#isFull) body.resume();
        this.#held -= bytes;
        bytes = 0;
        if (this.#isFull) this.#pauseOrResume();
      },
    };
  }

  #pauseOrResume(): void {
    this.#isFull = this.#held >= this.#maxBytes;
    let mayArrive = true;
    for (const body of this.#arriving) {
      if (mayArrive) body.resume();
      else body.pause();
      mayArrive = !this.#isFull;
    }
  }
}
