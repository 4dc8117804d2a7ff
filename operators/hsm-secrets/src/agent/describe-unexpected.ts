/** UnexpectedError is an error without its message, which might quote a value. */
export interface UnexpectedError {
  readonly error: string;
  readonly at: readonly string[];
}

const MAX_FRAMES = 5;

/** describeUnexpected returns the name of an error and where it was thrown. */
export function describeUnexpected(error: unknown): UnexpectedError {
  if (!(error instanceof Error)) return { error: typeof error, at: [] };
  const frames = (error.stack ?? '')
    .replace(error.message, '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line));
  return { error: error.name, at: frames.slice(0, MAX_FRAMES).map((frame) => frame.trim()) };
}
