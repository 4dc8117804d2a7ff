import type { HostileRequest } from './hostile-request.ts';

/** ResponseText is the response of the server to a request. */
export interface ResponseText {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

/** Terms of the implementation language: a response that contains them shows a bug. */
const LEAKS =
  /\[object \w+\]|Cannot read propert|is not a function|is not iterable|Maximum call stack|Invalid array length|node_modules|\.ts:\d+/;

/** problemOf returns what is wrong with a response, whatever the request was. */
export function problemOf({ status, contentType, text }: ResponseText): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) return `returns the status ${status}`;
  if (contentType !== 'application/json') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return `returns ${status} with a body that is not JSON: ${text.slice(0, 200)}`;
  }
  if (status < 400) return undefined;
  const { kind, code, message } = body as {
    readonly kind?: unknown;
    readonly code?: unknown;
    readonly message?: unknown;
  };
  if (kind === 'TokenReview') return undefined;
  if (kind !== 'Status' || code !== status || typeof message !== 'string')
    return `returns ${status} without a matching Status: ${text.slice(0, 200)}`;
  const [leak] = LEAKS.exec(message) ?? [];
  return leak === undefined
    ? undefined
    : `returns ${status} and leaks ${JSON.stringify(leak)}: ${message.slice(0, 300)}`;
}

/** described returns a request in one line, so that it can be sent again. */
export function described({ family, method, path, headers, body }: HostileRequest): string {
  const content =
    body === undefined ? '' : typeof body === 'string' ? body : `base64:${Buffer.from(body).toString('base64')}`;
  return `[${family}] ${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 300)} ${content.slice(0, 1_500)}`;
}

/** builtIns returns the members of the language's built-in objects, which must not change. */
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
