import { diffJsonPatch, type JsonPatchOperation } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import { type AnyResponse, type Denied, isAdmissionResponse, kindOf } from './admission-response.ts';
import type { ReviewResponse } from './admission-review.ts';
import type { Webhook } from './webhook.ts';

/** The API server returns this many characters of all warnings together and drops the rest. */
const MAX_WARNING_CHARS = 4096;

/**
 * respond converts the return value of a handler to a response. `readOriginal` returns the original object, even if the
 * handler modified its argument.
 */
export function respond(
  webhook: Pick<Webhook, 'type' | 'name'>,
  uid: string,
  returned: unknown,
  readOriginal: () => unknown,
): ReviewResponse {
  const response = isAdmissionResponse(returned) ? returned : undefined;
  const warnings = warningsOf(response);
  const common = { uid, ...(warnings.length > 0 ? { warnings } : {}) };
  if (response && kindOf(response) === 'deny')
    return { ...common, allowed: false, status: statusOf(response as Denied) };
  if (response && kindOf(response) === 'admit') return { ...common, allowed: true };
  if (webhook.type === 'validating') throw noResponse(webhook, 'admit() or deny(…)');
  const operations = operationsOf(webhook, response ?? returned, readOriginal);
  if (operations.length === 0) return { ...common, allowed: true };
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { ...common, allowed: true, patchType: 'JSONPatch', patch };
}

function operationsOf(
  webhook: Pick<Webhook, 'name'>,
  returned: unknown,
  readOriginal: () => unknown,
): readonly JsonPatchOperation[] {
  if (isAdmissionResponse(returned)) {
    if ('operations' in returned) return returned.operations;
    if ('object' in returned) return operationsOf(webhook, returned.object, readOriginal);
  }
  if (typeof returned !== 'object' || returned === null || Array.isArray(returned)) {
    throw noResponse(webhook, 'the changed object, or admit(), deny(…), admitChanged(…) or admitPatched(…)');
  }
  return diffJsonPatch(readOriginal(), returned);
}

function noResponse(webhook: Pick<Webhook, 'name'>, wanted: string): BowlineError {
  return new BowlineError(
    'BOWLINE_WEBHOOK_NO_ANSWER',
    `the handler of the webhook ${webhook.name} returned no response; it must return ${wanted}`,
  );
}

function statusOf({ code, reason, message, causes }: Denied): NonNullable<ReviewResponse['status']> {
  return { status: 'Failure', code, reason, message, ...(causes.length > 0 ? { details: { causes } } : {}) };
}

/** A warning becomes an HTTP header: control characters would make the API server drop it silently. */
function warningsOf(response: AnyResponse | undefined): readonly string[] {
  const kept: string[] = [];
  let left = MAX_WARNING_CHARS;
  for (const warning of response?.warnings ?? []) {
    const line = warning
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, left);
    if (line === '') continue;
    kept.push(line);
    left -= line.length;
  }
  return kept;
}
