/** Fields are the variables of a log line; values must be safe to print (never a secret). */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Log is a structured logger. Messages are constants, variables are fields. `with` gives a child whose fields stand on
 * every line.
 */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  with(fields: Fields): Log;
}

/** silentLog drops everything; the default of parts that are used alone. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
};
