import { BowlineError } from '../errors/bowline-error.ts';
import { byUtf8, formatNumber } from '../json/go-text.ts';
import { isObject } from '../json/json.ts';

/**
 * StrategicMergeError reports a strategic merge patch that cannot be applied. Its code is `BOWLINE_PATCH_INVALID` if
 * the patch is invalid for any object, and `BOWLINE_PATCH_FAILED` if it does not apply to this object; `detail` is the
 * API server's wording alone.
 */
export class StrategicMergeError extends BowlineError {
  readonly detail: string;

  constructor(code: 'BOWLINE_PATCH_INVALID' | 'BOWLINE_PATCH_FAILED', detail: string) {
    super(code, `cannot apply the strategic merge patch: ${detail.trim()}`);
    this.detail = detail;
  }
}

/** malformedDirective returns the error for a directive with an invalid form. */
export function malformedDirective(
  directive: 'primitive list' | 'retainKeys' | 'setElementOrder list',
): StrategicMergeError {
  return new StrategicMergeError('BOWLINE_PATCH_INVALID', `invalid patch format of ${directive}`);
}

/** patchFailed returns the error for a patch that does not apply to the object. */
export function patchFailed(detail: string): StrategicMergeError {
  return new StrategicMergeError('BOWLINE_PATCH_FAILED', detail);
}

/** unknownDirective returns the error for a value of `$patch` that is not supported at its position. */
export function unknownDirective(directive: unknown, patch: unknown): StrategicMergeError {
  const written = typeof directive === 'string' ? directive : `%!s(${goPrefix(directive)}${goText(directive)})`;
  return patchFailed(`unknown patch type: ${written} in map: ${goText(patch)}`);
}

/** missingMergeKey returns the error for an element without its merge key. */
export function missingMergeKey(element: unknown, mergeKey: string): StrategicMergeError {
  return patchFailed(`map: ${goText(element)} does not contain declared merge key: ${mergeKey}`);
}

/** unexpectedType returns the error for a value whose type a directive does not support. */
export function unexpectedType(wanted: 'list' | 'map', found: unknown): StrategicMergeError {
  const received = found === null ? '%!s(<nil>)' : goType(found);
  return patchFailed(
    `expected a ${wanted === 'list' ? '[]interface {}' : 'map[string]interface {}'}, but received a ${received}`,
  );
}

/** goText formats a JSON value as the API server prints it: `map[name:a ports:[80]]`. */
export function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value)) {
    const members = Object.keys(value).sort(byUtf8);
    return `map[${members.map((name) => `${name}:${goText(value[name])}`).join(' ')}]`;
  }
  if (value === null || value === undefined) return '<nil>';
  return typeof value === 'number' ? formatNumber(value) : String(value);
}

function goPrefix(value: unknown): string {
  return value === null || typeof value === 'object' ? '' : `${goType(value)}=`;
}

/** goType returns the API server's name for the type of a JSON value: `map[string]interface {}`. */
export function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map[string]interface {}';
  }
}
