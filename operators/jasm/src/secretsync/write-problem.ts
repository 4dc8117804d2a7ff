import { ApiError, isNamespaceTerminating } from '@bowline/runtime/client';
import type { WantedSecret } from './desired.ts';
import type { Problem } from './problem.ts';

/** Not found, conflict, too many requests: what they mean has passed when it is tried again. */
const PASSING: ReadonlySet<number> = new Set([404, 409, 429]);

/** What a webhook, or an admission policy, says after this may quote the object that it denies. */
const DENIAL = /^.*?denied (?:the )?request/s;

/**
 * writeProblem is what people are told of a refused write: undefined when the Secret is merely not what was thought, or the API
 * server not well, and trying again helps. What the API server says may quote what it was given, so only what cannot hold a value
 * is passed on.
 */
export function writeProblem(
  error: unknown,
  { request, data }: Pick<WantedSecret, 'request'> & Partial<Pick<WantedSecret, 'data'>>,
): Problem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  // A webhook may deny with any status; what it says must not be thrown, and then logged, either.
  const mayPass = PASSING.has(error.status) || error.status >= 500;
  if (mayPass && !DENIAL.test(error.message)) return undefined;
  const message = `Secret ${request.secretName} cannot be written: ${saidBy(error, data)}`;
  return { reason: 'SecretSyncFailed', message };
}

function saidBy(error: ApiError, data: WantedSecret['data'] | undefined): string {
  if (isNamespaceTerminating(error)) return 'its namespace is being deleted';
  if (error.status === 422) {
    // Without the values nobody can tell whether they are in the names of fields.
    const fields = data ? error.causes.map(({ field = '', reason = '' }) => `${field} (${reason})`) : [];
    return withoutValues(`the API server finds it invalid: ${fields.join(', ') || 'it names no field'}`, data);
  }
  const [shown = error.message] = DENIAL.exec(error.message) ?? [];
  const fallback = error.status === 403 ? 'it is forbidden' : `the API server refuses it with ${error.status}`;
  return withoutValues(shown, data, fallback);
}

/** withoutValues is a text, unless some value stands in it as such or as it was sent. */
function withoutValues(
  text: string,
  data: WantedSecret['data'] = {},
  fallback = 'the API server finds it invalid',
): string {
  const isIn = (value: string): boolean => value !== '' && text.includes(value);
  const shows = Object.values(data).some((value) => isIn(value) || isIn(Buffer.from(value, 'base64').toString('utf8')));
  return shows ? `${fallback}; its audit log says why` : text;
}
