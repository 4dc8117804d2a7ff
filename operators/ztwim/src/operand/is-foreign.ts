import { BowlineError } from '@bowline/machinery';

/** isForeign reports whether a write failed because the object belongs to someone else. */
export function isForeign(error: unknown): error is BowlineError {
  return error instanceof BowlineError && error.code === 'BOWLINE_FOREIGN_OBJECT';
}
