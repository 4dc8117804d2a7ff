/** JsonObject is a JSON object whose values are not yet known. */
export type JsonObject = { readonly [key: string]: unknown };

/** isObject tells a JSON object from an array, null and the scalars. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * member reads an object's own member. Inherited ones do not count (`constructor` is a valid label key), and one that is
 * undefined is absent, as it is in JSON.
 */
export function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * setMember sets a member of an object under construction, or removes it when the value is undefined. It defines the member
 * instead of assigning it, so that `__proto__` is data like any other key and never a prototype.
 */
export function setMember(object: { [key: string]: unknown }, key: string, value: unknown): void {
  if (value === undefined) delete object[key];
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** withMember is a copy of an object with one member set, or without it when the value is undefined. */
export function withMember(object: JsonObject, key: string, value: unknown): JsonObject {
  const copy = { ...object };
  setMember(copy, key, value);
  return copy;
}

/** isSameJson compares two values as JSON: order of members and undefined members do not matter. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let index = 0; index < a.length; index++) if (!isSameJson(a[index], b[index])) return false;
    return true;
  }
  const [one, other] = [a as JsonObject, b as JsonObject];
  for (const key of Object.keys(one)) {
    const value = one[key];
    if (value === undefined) continue;
    const counterpart = member(other, key);
    if (counterpart === undefined || !isSameJson(value, counterpart)) return false;
  }
  for (const key of Object.keys(other)) {
    if (other[key] !== undefined && member(one, key) === undefined) return false;
  }
  return true;
}
