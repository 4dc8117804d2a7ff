import type { Fields, Log } from '@bowline/runtime';

/** LastProblem is a log that remembers the last failure that went through it, for whoever waits in vain. */
export interface LastProblem {
  readonly log: Log;
  /** message is that of the last error; undefined when there was none. */
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
