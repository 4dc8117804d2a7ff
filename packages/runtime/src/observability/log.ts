/** Fields holds the variables of a log line; values must be safe to print (never a secret). */
export type Fields = Readonly<Record<string, unknown>>;

/**
 * Log is a structured logger. Messages are constants, variables are fields. `with` returns a child logger that adds its
 * fields to every line.
 */
export interface Log {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  with(fields: Fields): Log;
}

/** silentLog drops everything; the default of standalone components. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  with: () => silentLog,
};
