/** textLine turns one JSON log line into one for people: time, level, message, then `name=value`. */
export function textLine(json: string): string {
  const { time, level, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const shown = Object.entries(fields).map(([name, value]) => `${name}=${text(value)}`);
  const head = `${String(time)} ${String(level).toUpperCase().padEnd(5)} ${String(msg)}`;
  return `${[head, ...shown].join('  ')}\n`;
}

/** A bare word where that is unambiguous; JSON, which also escapes line ends and terminal codes, where it is not. */
function text(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}
