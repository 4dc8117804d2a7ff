import { goText, quoteText } from '@bowline/machinery';
import { canonicalJson } from '../json/canonical-json.ts';
import { invalid, StatusError } from '../status/api-status.ts';
import { STRATEGIC_PATCH } from './patch-body.ts';

/** What is said of an object that is none of its kind, or that has what its kind has not. */
const UNREADABLE = /^.* in version .* cannot be handled as a \S+: (.*)$/s;
const UNKNOWN = /^(strict decoding error: .*)$/s;
const WRONG_TYPE = /^json: cannot unmarshal (\w+).* into Go .* of type (.*)$/s;

/**
 * patchProblem is the error for a patch whose result cannot be read, from what was said of the result: to the API server it is
 * the patch that is invalid then. Other errors stay what they are.
 */
export function patchProblem(error: unknown, type: string, patch: unknown, result: unknown): unknown {
  if (!(error instanceof StatusError) || error.code !== 400) return error;
  const [, detail] = UNREADABLE.exec(error.message) ?? UNKNOWN.exec(error.message) ?? [];
  if (detail === undefined) return error;
  const isStrategic = type === STRATEGIC_PATCH;
  const shown = quoteText(isStrategic ? goText(patch) : canonicalJson(result));
  const message = `Invalid value: ${shown}: ${isStrategic ? inWordsOfMaps(detail) : detail}`;
  return invalid({ group: '', kind: '' }, '', [{ field: 'patch', reason: 'FieldValueInvalid', message }]);
}

const FOUND: Readonly<Record<string, string | undefined>> = { array: 'slice', object: 'map', number: 'int64' };

/** inWordsOfMaps says the same as it is said of a strategic merge, which works on maps and not on JSON. */
function inWordsOfMaps(detail: string): string {
  const [, found = '', wanted = ''] = WRONG_TYPE.exec(detail) ?? [];
  if (wanted === '') return detail;
  const kind = FOUND[found] ?? found;
  if (wanted.startsWith('[]')) return `cannot restore slice from ${kind}`;
  if (wanted.startsWith('map[')) return `cannot restore map from ${kind}`;
  if (wanted.includes('.')) return `cannot restore struct from: ${kind}`;
  return found === 'number' && wanted === 'string' ? 'cannot convert int64 to string' : `unrecognized type: ${wanted}`;
}
