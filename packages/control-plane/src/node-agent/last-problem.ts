import type { Log } from '@bowline/runtime';
import type { Fields } from '@bowline/runtime/manager';

/** LastProblem is a log that remembers the last logged error, to explain a timeout. */
export interface LastProblem {
  readonly log: Log;
  /** message returns the message of the last error, or undefined. */
  message(): string | undefined;
}

/** rememberProblem passes everything on to `log`. */
export function rememberProblem(log: Log): LastProblem {
  let last: string | undefined;
  const note = (fields: Fields | undefined): void => {
    if (fields?.error instanceof Error) last = fields.error.message;
  };
  const wrap = (inner: Log): Log => ({
    debug: (message, fields) => inner.debug(message, fields),
    info: (message, fields) => inner.info(message, fields),
    warn: (message, fields) => {
      note(fields);
      inner.warn(message, fields);
    },
    error: (message, fields) => {
      note(fields);
      inner.error(message, fields);
    },
    with: (fields) => wrap(inner.with(fields)),
  });
  return { log: wrap(log), message: () => last };
}
