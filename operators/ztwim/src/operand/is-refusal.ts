import { ApiError } from '@bowline/runtime/client';

/** The statuses with which the API server refuses an object that it may accept after someone changes something else. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404, 413, 422]);

/** isRefusal reports whether the API server refused an object, so that writing it again at once is useless. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && REFUSALS.has(error.status);
}
