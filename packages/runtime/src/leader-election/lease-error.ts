import { keyString, type ObjectKey } from '@bowline/kubernetes';
import { ApiError } from '../errors/api-error.ts';
import { BowlineError } from '../errors/bowline-error.ts';

/** statusOf returns the HTTP status of an API error, or undefined for other errors (a broken connection, a timeout). */
export function statusOf(error: unknown): number | undefined {
  return error instanceof ApiError ? error.status : undefined;
}

/** leaseProblem returns the error for a Lease that could not be read or written, with advice on how to fix it. */
export function leaseProblem(verb: 'get' | 'create' | 'update', key: ObjectKey, cause: unknown): BowlineError {
  const lease = `Lease ${keyString(key)}`;
  switch (statusOf(cause)) {
    case 401:
    case 403:
      return new BowlineError(
        'BOWLINE_LEASE_FORBIDDEN',
        `cannot ${verb} ${lease}: the API server refuses this identity; grant get, create and update on leases in ` +
          `group coordination.k8s.io, namespace ${key.namespace ?? 'default'}`,
        { cause, retryable: true },
      );
    case 404:
      return new BowlineError(
        'BOWLINE_LEASE_NAMESPACE_MISSING',
        `cannot ${verb} ${lease}: namespace ${key.namespace ?? 'default'} does not exist; create it or choose another for leases`,
        { cause, retryable: true },
      );
    default:
      return new BowlineError(
        'BOWLINE_LEASE_UNAVAILABLE',
        `cannot ${verb} ${lease}: ${cause instanceof Error ? cause.message : String(cause)}; retrying`,
        { cause, retryable: true },
      );
  }
}
