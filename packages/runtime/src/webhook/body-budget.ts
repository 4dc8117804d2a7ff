/** ArrivingBody is a body that can be told to arrive later: a readable stream. */
export interface ArrivingBody {
  pause(): unknown;
  resume(): unknown;
}

/** BodyShare is what one body holds of a budget, until it is disposed of. */
export interface BodyShare extends Disposable {
  /** add counts bytes that have arrived. */
  add(bytes: number): void;
  /** complete tells that no more will. */
  complete(): void;
}

/**
 * BodyBudget bounds the bytes of bodies that are held at once, whether they still arrive, wait for their turn or are worked on. While
 * they are too many, bodies stop arriving, all but the one that began first: one must be able to end, or none would.
 */
export class BodyBudget {
  readonly #mostBytes: number;
  /** In the order in which they began. */
  readonly #arriving = new Set<ArrivingBody>();
  #held = 0;
  #tight = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** begin takes a body in. */
  begin(body: ArrivingBody): BodyShare {
    let bytes = 0;
    this.#arriving.add(body);
    if (this.#tight) this.#settle();
    return {
      add: (more) => {
        bytes += more;
        this.#held += more;
        if (this.#held >= this.#mostBytes) this.#settle();
      },
      complete: () => {
        this.#arriving.delete(body);
        if (this.#tight) this.#settle();
      },
      [Symbol.dispose]: () => {
        // What is left of it must flow, if only to be thrown away.
        if (this.#arriving.delete(body) && this.#tight) body.resume();
        this.#held -= bytes;
        bytes = 0;
        if (this.#tight) this.#settle();
      },
    };
  }

  #settle(): void {
    this.#tight = this.#held >= this.#mostBytes;
    let mayArrive = true;
    for (const body of this.#arriving) {
      if (mayArrive) body.resume();
      else body.pause();
      mayArrive = !this.#tight;
    }
  }
}
