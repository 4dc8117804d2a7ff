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
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  if (!isObject(a) || !isObject(b)) return false;
  const hasAll = (one: JsonObject, other: JsonObject, alsoCompare: boolean): boolean =>
    Object.keys(one).every((key) => {
      if (one[key] === undefined) return true;
      const counterpart = member(other, key);
      return counterpart !== undefined && (!alsoCompare || isSameJson(one[key], counterpart));
    });
  return hasAll(a, b, true) && hasAll(b, a, false);
}
