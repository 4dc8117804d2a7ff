import { isObject, isSameJson, member } from '../json/json.ts';
import { compareQuantities, parseQuantity } from '../values/quantity.ts';
import { parseTime } from '../values/timestamp.ts';
import type { FieldShape } from './field-shape.ts';

/**
 * isSameOwned reports whether a value that we own as a whole is still equivalent to the desired value. Members that the
 * server filled in, and zero values that it dropped, make no difference; anything else does.
 */
export function isSameOwned(desired: unknown, live: unknown, shape: FieldShape | undefined): boolean {
  if (isAbsent(live)) return isZero(desired);
  if (Array.isArray(desired)) {
    if (!Array.isArray(live) || live.length !== desired.length) return false;
    const element = shape?.element();
    return desired.every((item, index) => isSameOwned(item, live[index], element));
  }
  if (isObject(desired)) return isObject(live) && isSameObject(desired, live, shape);
  return isSameScalar(desired, live, shape);
}

function isSameObject(
  desired: { readonly [key: string]: unknown },
  live: { readonly [key: string]: unknown },
  shape: FieldShape | undefined,
): boolean {
  for (const [name, value] of Object.entries(desired)) {
    if (value !== undefined && !isSameOwned(value, member(live, name), shape?.member(name))) return false;
  }
  for (const [name, value] of Object.entries(live)) {
    if (member(desired, name) !== undefined || isAbsent(value) || isEmpty(value)) continue;
    if (!isDefault(name, value, shape)) return false;
  }
  return true;
}

/** isDefault reports whether a member that is not desired was filled in by the server. */
function isDefault(name: string, value: unknown, shape: FieldShape | undefined): boolean {
  const known = shape?.serverDefaults && member(shape.serverDefaults, name);
  if (known !== undefined && isSameJson(known, value)) return true;
  const stated = shape?.member(name)?.default;
  return stated !== undefined && isSameJson(stated, value);
}

/** isSameScalar compares by meaning if the server normalizes the value. */
export function isSameScalar(desired: unknown, live: unknown, shape: FieldShape | undefined): boolean {
  if (desired === live) return true;
  if (isAbsent(live)) return isZero(desired);
  switch (shape?.format) {
    case 'quantity':
      return isScalar(desired) && isScalar(live) && isSameQuantity(desired, live);
    case 'date-time':
      return typeof desired === 'string' && typeof live === 'string' && isSameTime(desired, live);
    case 'byte':
      return typeof desired === 'string' && typeof live === 'string' && unfold(desired) === unfold(live);
    case undefined:
      return false;
  }
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isSameQuantity(a: string | number, b: string | number): boolean {
  try {
    return compareQuantities(parseQuantity(a), parseQuantity(b)) === 0;
  } catch {
    // The server will report the problem.
    return false;
  }
}

function isSameTime(a: string, b: string): boolean {
  try {
    return parseTime(a) === parseTime(b);
  } catch {
    return false;
  }
}

/** Base64 may contain line breaks; the server writes one line. */
function unfold(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function isEmpty(value: unknown): boolean {
  if (value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every((item) => isAbsent(item) || (isObject(item) && isEmpty(item)));
}

/** isZero reports whether the server may drop the value when it stores it. */
function isZero(value: unknown): boolean {
  return isAbsent(value) || value === 0 || value === false || isEmpty(value);
}
