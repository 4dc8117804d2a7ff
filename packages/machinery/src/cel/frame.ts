import { BowlineError } from '../errors/bowline-error.ts';
import { type CelFailure, type CelValue, ListValue, MapValue } from './values.ts';

/** CelBudgetError ends an evaluation that exceeds its step limit. No operator catches it. */
export class CelBudgetError extends BowlineError {
  constructor(steps: number) {
    super('BOWLINE_CEL_BUDGET', `the expression exceeds the limit of ${steps} steps; simplify it or reduce its input`);
  }
}

/**
 * MAX_STEPS is the maximum number of steps of one evaluation: about as much as the API server allows in its own units.
 */
export const MAX_STEPS = 1_000_000;

/** Failed is stored in a variable whose value cannot be read: only expressions that read the variable fail. */
export class Failed {
  readonly failure: CelFailure;

  constructor(failure: CelFailure) {
    this.failure = failure;
  }
}

/** Meter counts the steps of an evaluation, and ends an evaluation that takes too many. */
export interface Meter {
  spend(steps: number): void;
}

/** stepsFor returns the cost of reading a whole text or all bytes, in steps. */
export function stepsFor(value: string | Uint8Array): number {
  return value.length >> 4;
}

/** Frame holds the variables of one evaluation and counts its steps. */
export class Frame implements Meter {
  readonly slots: (CelValue | Failed)[];
  #steps: number;
  readonly #maxSteps: number;

  constructor(slots: (CelValue | Failed)[], maxSteps = MAX_STEPS) {
    this.slots = slots;
    this.#steps = maxSteps;
    this.#maxSteps = maxSteps;
  }

  /** spend counts steps. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new CelBudgetError(this.#maxSteps);
  }

  /** spendOn counts the steps for the size of a value that a function receives or returns. */
  spendOn(value: CelValue | undefined): void {
    if (typeof value === 'string' || value instanceof Uint8Array) this.spend(stepsFor(value));
    else if (value instanceof ListValue) this.spend(value.length >> 2);
    else if (value instanceof MapValue) this.spend(value.size >> 2);
  }

  /** spent is the number of steps taken. */
  get spent(): number {
    return this.#maxSteps - this.#steps;
  }
}
