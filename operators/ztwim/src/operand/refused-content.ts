import { ConfigMap, type ObjectKey, type Resource, Secret } from '@bowline/kubernetes';
import { ApiError } from '@bowline/runtime/client';

/** The kinds whose content may be a password or a key. */
const CONFIDENTIAL: ReadonlySet<string> = new Set([ConfigMap.id, Secret.id]);

/** Not found, conflict, too many requests: the cause has passed when the write is retried. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([404, 409, 429]);

const DENIAL = /denied (?:the )?request/;

/**
 * refusedContent returns why a write of confidential content was refused; undefined for other errors. The message of the
 * API server is not passed on, and must not be logged: a webhook may quote the object in it.
 */
export function refusedContent({ id, kind }: Resource, { name }: ObjectKey, error: unknown): string | undefined {
  if (!CONFIDENTIAL.has(id) || !(error instanceof ApiError)) return undefined;
  const isTransient = TRANSIENT_STATUSES.has(error.status) || error.status >= 500;
  if (isTransient && !DENIAL.test(error.message)) return undefined;
  return `the ${kind} ${name} cannot be written: the API server refused it with status ${error.status}; see the audit log of the API server for the details`;
}
