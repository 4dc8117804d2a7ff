import { ApiError, isNamespaceTerminating } from '@bowline/runtime/client';
import type { WantedSecret } from './desired.ts';
import type { Problem } from './problem.ts';

/** Not found, conflict, too many requests: the cause has passed when the write is retried. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([404, 409, 429]);

/** The rest of the message of a webhook or an admission policy may quote the denied object. */
const DENIAL = /^.*?denied (?:the )?request/s;

/**
 * writeProblem returns the problem to report for a refused write. It returns undefined if a retry helps, because the
 * Secret was stale or the API server is unavailable. A message of the API server may quote the object, so only the
 * parts that cannot contain a value are passed on.
 */
export function writeProblem(
  error: unknown,
  { request, data }: Pick<WantedSecret, 'request'> & Partial<Pick<WantedSecret, 'data'>>,
): Problem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  // A webhook may deny with any status; its message must not be thrown either, because it would be logged.
  const isTransient = TRANSIENT_STATUSES.has(error.status) || error.status >= 500;
  if (isTransient && !DENIAL.test(error.message)) return undefined;
  const message = `Secret ${request.secretName} cannot be written: ${reasonOf(error, data)}`;
  return { reason: 'SecretSyncFailed', message };
}

function reasonOf(error: ApiError, data: WantedSecret['data'] | undefined): string {
  if (isNamespaceTerminating(error)) return 'its namespace is being deleted';
  if (error.status === 422) {
    // Without the values, it is impossible to check whether field names contain them.
    const fields = data ? error.causes.map(({ field = '', reason = '' }) => `${field} (${reason})`) : [];
    return withoutValues(`the API server rejects it as invalid: ${fields.join(', ') || 'no field reported'}`, data);
  }
  const [shown = error.message] = DENIAL.exec(error.message) ?? [];
  const fallback = error.status === 403 ? 'it is forbidden' : `the API server rejects it with status ${error.status}`;
  return withoutValues(shown, data, fallback);
}

/** withoutValues returns a text unless it contains a value, plain or in Base64; then it returns the fallback. */
function withoutValues(
  text: string,
  data: WantedSecret['data'] = {},
  fallback = 'the API server rejects it as invalid',
): string {
  const isIn = (value: string): boolean => value !== '' && text.includes(value);
  const containsValue = Object.values(data).some(
    (value) => isIn(value) || isIn(Buffer.from(value, 'base64').toString('utf8')),
  );
  return containsValue ? `${fallback}; see the audit log of the API server for the reason` : text;
}
