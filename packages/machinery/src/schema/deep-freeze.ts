/**
 * deepFreeze is a frozen copy of a JSON value. A schema is used long after it was built; what it was built from may change
 * meanwhile.
 */
export function deepFreeze<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(deepFreeze)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    // Defined, not assigned: `__proto__` is a key like any other in JSON.
    Object.defineProperty(copy, key, { value: deepFreeze(item), enumerable: true });
  }
  return Object.freeze(copy) as T;
}
