/** textLine converts one JSON log line to human-readable text: time, level, message, then `name=value`. */
export function textLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const displayed = Object.entries(fields).map(([name, value]) => `${name}=${text(value)}`);
  const head = `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}`;
  return `${[head, ...displayed].join('  ')}\n`;
}

/** A bare word if that is unambiguous; otherwise JSON, which also escapes line ends and terminal codes. */
function text(value: unknown): string {
  if (isExpectedError(value)) return `${JSON.stringify(value.message)} [${value.code}]`;
  // Durations are measured with more precision than is useful to read.
  if (typeof value === 'number') return String(Math.round(value * 10) / 10);
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/**
 * isExpectedError returns whether the message of an error is sufficient: it has a code, and neither it nor its causes
 * have a stack.
 */
function isExpectedError(value: unknown): value is { message: string; code: string; cause?: unknown } {
  if (typeof value !== 'object' || value === null || !('message' in value) || !('code' in value)) return false;
  if ('stack' in value || 'errors' in value) return false;
  return !('cause' in value) || isExpectedError(value.cause);
}
