/** JsonObject is a JSON object whose values have an unknown type. */
export type JsonObject = { readonly [key: string]: unknown };

/** isObject reports whether a value is a JSON object, rather than an array, null or a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * member returns an object's own member. Inherited members do not count (`constructor` is a valid label key), and an
 * undefined member is absent, as in JSON.
 */
export function member(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * setMember sets a member of an object under construction, or removes it if the value is undefined. It defines
 * `__proto__` instead of assigning it, so that it is an ordinary key and never sets the prototype. Other members are
 * assigned, which is several times faster.
 */
export function setMember(object: { [key: string]: unknown }, key: string, value: unknown): void {
  if (value === undefined) delete object[key];
  else if (key !== '__proto__') object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** withMember returns a copy of an object with one member set, or without it if the value is undefined. */
export function withMember(object: JsonObject, key: string, value: unknown): JsonObject {
  const copy = { ...object };
  setMember(copy, key, value);
  return copy;
}

/** isSameJson compares two values as JSON: the order of members and undefined members do not matter. */
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
