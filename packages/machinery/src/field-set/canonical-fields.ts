import { formatJson } from '../json/go-text.ts';
import { isObject } from '../json/json.ts';
import { type FieldsV1, parsePathElement } from './fields-v1.ts';
import { NO_FIELDS } from './set-operations.ts';

/**
 * canonicalFields normalizes a set of fields from a client: equal path elements become equal texts, and elements that a
 * later version may have added are left out. It returns undefined if the input is not a set of fields.
 */
export function canonicalFields(fields: unknown): FieldsV1 | undefined {
  if (fields === null || fields === undefined) return NO_FIELDS;
  if (!isObject(fields)) return undefined;
  const result: { [element: string]: FieldsV1 } = {};
  let isMember = false;
  for (const element of Object.keys(fields)) {
    if (element === '.') {
      isMember = true;
      continue;
    }
    // Unknown types of path elements are ignored.
    if (/^[^fkvi]:/.test(element)) continue;
    const name = canonicalElement(element);
    const below = canonicalFields(fields[element]);
    if (name === undefined || below === undefined) return undefined;
    result[name] = below;
  }
  for (const _ in result) return isMember ? { '.': NO_FIELDS, ...result } : result;
  return NO_FIELDS;
}

function canonicalElement(element: string): string | undefined {
  const path = parsePathElement(element);
  switch (path?.type) {
    case 'key':
      return `k:${formatJson(path.key)}`;
    case 'value':
      return `v:${formatJson(path.value)}`;
    default:
      return path && element;
  }
}
