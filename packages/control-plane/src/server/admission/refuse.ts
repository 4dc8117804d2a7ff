import { forbidden, type StatusCause, type StatusError } from '../status/api-status.ts';
import type { AdmissionRequest } from './admission.ts';

/** refuse is what somebody reads whose write a plugin does not let through. */
export function refuse(request: AdmissionRequest, why: string, causes?: StatusCause[]): StatusError {
  const { resource, name, object } = request;
  // The name may not be made yet, and then what it will begin with has to do.
  const { name: own, generateName } = object?.metadata ?? {};
  return forbidden(resource, name || own || generateName || 'Unknown', why, causes);
}
