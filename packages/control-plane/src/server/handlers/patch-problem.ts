import { canonicalJson, goText, quoteText } from '@bowline/machinery';
import { invalid, StatusError } from '../status/api-status.ts';
import { STRATEGIC_PATCH } from './patch-body.ts';

/** Messages about an object that does not fit its kind, or that has unknown fields. */
const UNREADABLE = /^.* in version .* cannot be handled as a \S+: (.*)$/s;
const UNKNOWN = /^(strict decoding error: .*)$/s;
const WRONG_TYPE = /^json: cannot unmarshal (\w+).* into Go .* of type (.*)$/s;

/**
 * patchProblem returns the error for a patch whose result cannot be decoded, derived from the error about the result:
 * the API server reports that the patch is invalid. Other errors are returned unchanged.
 */
export function patchProblem(error: unknown, type: string, patch: unknown, result: unknown): unknown {
  if (!(error instanceof StatusError) || error.code !== 400) return error;
  const [, detail] = UNREADABLE.exec(error.message) ?? UNKNOWN.exec(error.message) ?? [];
  if (detail === undefined) return error;
  const isStrategic = type === STRATEGIC_PATCH;
  const shown = quoteText(isStrategic ? goText(patch) : canonicalJson(result));
  const message = `Invalid value: ${shown}: ${isStrategic ? asMapProblem(detail) : detail}`;
  return invalid({ group: '', kind: '' }, '', [{ field: 'patch', reason: 'FieldValueInvalid', message }]);
}

const FOUND: Readonly<Record<string, string | undefined>> = { array: 'slice', object: 'map', number: 'int64' };

/** asMapProblem rewords a message as for a strategic merge, which operates on maps and not on JSON. */
function asMapProblem(detail: string): string {
  const [, found = '', wanted = ''] = WRONG_TYPE.exec(detail) ?? [];
  if (wanted === '') return detail;
  const kind = FOUND[found] ?? found;
  if (wanted.startsWith('[]')) return `cannot restore slice from ${kind}`;
  if (wanted.startsWith('map[')) return `cannot restore map from ${kind}`;
  if (wanted.includes('.')) return `cannot restore struct from: ${kind}`;
  return found === 'number' && wanted === 'string' ? 'cannot convert int64 to string' : `unrecognized type: ${wanted}`;
}
