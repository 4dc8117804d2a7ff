import type { HostileRequest } from './hostile-request.ts';

/** Told is what the server said to a request. */
export interface Told {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Words of the language that the server is written in: who reads them in an answer looks at a bug. */
const LEAKS =
  /\[object \w+\]|Cannot read propert|is not a function|is not iterable|Maximum call stack|Invalid array length|node_modules|\.ts:\d+/;

/** problemOf is what is wrong with an answer, whatever was asked. */
export function problemOf({ status, contentType, text }: Told): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) return `answers with the status ${status}`;
  if (contentType !== 'application/json') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `answers ${status} with what is no JSON: ${text.slice(0, 200)}`;
  }
  if (status < 400) return undefined;
  const { kind, code, message } = body as {
    readonly kind?: unknown;
    readonly code?: unknown;
    readonly message?: unknown;
  };
  if (kind === 'TokenReview') return undefined;
  if (kind !== 'Status' || code !== status || typeof message !== 'string')
    return `answers ${status} without saying so: ${text.slice(0, 200)}`;
  const [leak] = LEAKS.exec(message) ?? [];
  return leak === undefined
    ? undefined
    : `answers ${status} and lets ${JSON.stringify(leak)} through: ${message.slice(0, 300)}`;
}

/** described is a request in one line, so that it can be sent again. */
export function described({ family, method, path, headers, body }: HostileRequest): string {
  const content =
    body === undefined ? '' : typeof body === 'string' ? body : `base64:${Buffer.from(body).toString('base64')}`;
  return `[${family}] ${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${content.slice(0, 1_500)}`;
}

/** builtIns is what the language's own objects hold: it must be the same after all requests. */
export function builtIns(): string {
  const owners = { Object, Array, String, Number, Boolean, Function, Map, Set, Promise, Error };
  return Object.entries(owners)
    .map(
      ([name, { prototype }]) =>
        `${name}: ${Reflect.ownKeys(prototype as object)
          .map(String)
          .sort()
          .join(' ')}`,
    )
    .join('\n');
}
