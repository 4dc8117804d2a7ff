import { ApiError, isNamespaceTerminating } from '@bowline/runtime/client';
import { SyncProblem } from './problem.ts';

/** Conflict, not found, too many requests: the cause has passed when the write is retried. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([404, 409, 429]);

const DENIAL = /denied (?:the )?request/;

/**
 * writeProblem returns the problem to report for a refused write. It returns undefined if a retry helps. The message of
 * the API server is not passed on: it may quote the object.
 */
export function writeProblem(error: unknown, secretName: string): SyncProblem | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const isTransient = TRANSIENT_STATUSES.has(error.status) || error.status >= 500;
  if (isTransient && !DENIAL.test(error.message)) return undefined;
  return refusal(secretName, reasonOf(error));
}

/** refusal returns the problem that a Secret cannot be written. */
export function refusal(secretName: string, reason: string): SyncProblem {
  return new SyncProblem('WriteRefused', `the Secret ${secretName} cannot be written: ${reason}`);
}

function reasonOf(error: ApiError): string {
  if (isNamespaceTerminating(error)) return 'its namespace is being deleted';
  const details = 'see the audit log of the API server for the details';
  if (error.status !== 422) return `the API server refused it with status ${error.status}; ${details}`;
  // The names of fields that a webhook reports may contain values; those of the API server itself do not.
  const causes = DENIAL.test(error.message) ? [] : error.causes;
  const fields = causes.map(({ field = '', reason = '' }) => `${field} (${reason})`).join(', ');
  return `the API server refused its content for this type: ${fields || 'no field reported'}; correct spec.secretType or spec.keys`;
}
