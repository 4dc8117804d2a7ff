import type { Fields } from './log.ts';

/** The replacement of a value that must not be printed. */
export const REDACTED = '[redacted]';

/** Limits that keep log lines readable whatever is logged. */
const MAX_DEPTH = 5;
const MAX_LIST = 50;
const MAX_STRING = 8_192;
const MAX_CAUSE_CHAIN = 5;

/** Field names whose values are secrets, in any case and with any separators. `secretName` is not one. */
const SECRET_NAME =
  /(?:password|passwd|passphrase|token|privatekey|privatekeypem|keypem|keydata|apikey|secretkey|accesskey|secretvalue|stringdata|credentials?|authorization|cookie)$|^(?:pin|tlskey)$/;

/** The line's own fields: a caller's field of the same name is renamed. */
const RESERVED: ReadonlySet<string> = new Set(['level', 'time', 'msg']);

/**
 * loggable makes fields safe to print: errors become plain objects with code and causes, and, as a safety net, values
 * of fields with secret names and the data of Secrets are redacted. The first rule remains never to log a secret.
 */
export function loggable(fields: Fields): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    out[RESERVED.has(name) ? `${name}_` : name] = isSecretName(name) ? REDACTED : plain(value, 0);
  }
  return out;
}

function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replace(/[^a-z0-9]/g, ''));
}

function plain(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case 'string':
      return value.length > MAX_STRING ? `${value.slice(0, MAX_STRING)}… (${value.length} characters)` : value;
    case 'bigint':
      return value.toString();
    case 'function':
    case 'symbol':
      return String(value.toString()).slice(0, 80);
    case 'object':
      break;
    default:
      return value;
  }
  if (value === null) return null;
  if (value instanceof Error) return plainError(value, depth, MAX_CAUSE_CHAIN);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  if (depth >= MAX_DEPTH) return '(too deep)';
  if (Array.isArray(value)) return plainList(value, depth);
  if (value instanceof Set) return plainList([...value], depth);
  if (value instanceof Map) return plainObject(Object.fromEntries(value), depth);
  return plainObject(value as Record<string, unknown>, depth);
}

function plainList(values: readonly unknown[], depth: number): unknown[] {
  const out = values.slice(0, MAX_LIST).map((item) => plain(item, depth + 1));
  if (values.length > MAX_LIST) out.push(`(${values.length - MAX_LIST} more)`);
  return out;
}

function plainObject(value: Record<string, unknown>, depth: number): unknown {
  const out: Record<string, unknown> = {};
  const isSecret = value.kind === 'Secret';
  for (const [name, item] of Object.entries(value)) {
    const hide = isSecretName(name) || (isSecret && name === 'data');
    out[name] = hide ? REDACTED : plain(item, depth + 1);
  }
  return out;
}

function plainError(error: Error, depth: number, left: number): Record<string, unknown> {
  const { code, status, reason } = error as { code?: unknown; status?: unknown; reason?: unknown };
  const out: Record<string, unknown> = { message: plain(error.message, depth) };
  if (typeof code === 'string') out.code = code;
  if (typeof status === 'number') out.status = status;
  if (typeof reason === 'string') out.reason = reason;
  // An error of ours, or of the system (a refused connection), is expected and its message is sufficient; any other
  // error is unexpected and gets its stack.
  if (!('syscall' in error) && (typeof code !== 'string' || !code.startsWith('BOWLINE_'))) {
    out.name = error.name;
    out.stack = plain(error.stack, depth);
  }
  if (left > 0 && error instanceof AggregateError) {
    out.errors = plainErrors(error.errors, depth, left);
  }
  if (left > 0 && error.cause !== undefined) {
    out.cause = error.cause instanceof Error ? plainError(error.cause, depth, left - 1) : plain(error.cause, depth + 1);
  }
  return out;
}

function plainErrors(errors: readonly unknown[], depth: number, left: number): unknown[] {
  return errors
    .slice(0, MAX_CAUSE_CHAIN)
    .map((item) => (item instanceof Error ? plainError(item, depth, left - 1) : plain(item, depth + 1)));
}
