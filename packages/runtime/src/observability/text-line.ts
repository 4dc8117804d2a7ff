/** textLine turns one JSON log line into one for people: time, level, message, then `name=value`. */
export function textLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${text(value)}`);
  const head = `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}`;
  return `${[head, ...shown].join('  ')}\n`;
}

/** A bare word where that is unambiguous; JSON, which also escapes line ends and terminal codes, where it is not. */
function text(value: unknown): string {
  if (isExpectedError(value)) return `${JSON.stringify(value.message)} [${value.code}]`;
  // Times are measured finer than anybody reads them.
  if (typeof value === 'number') return String(Math.round(value * 10) / 10);
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** An error whose message says enough: it has a code, and neither it nor its causes were a surprise worth a stack. */
function isExpectedError(value: unknown): value is { message: string; code: string; cause?: unknown } {
  if (typeof value !== 'object' || value === null || !('message' in value) || !('code' in value)) return false;
  if ('stack' in value || 'errors' in value) return false;
  return !('cause' in value) || isExpectedError(value.cause);
}
