import { BoundedMap } from './bounded-map.ts';

/**
 * memoizeByText returns a function that caches its results by text. It holds texts of at most `maxCharacters` characters
 * in total and evicts the least recently used ones first. It does not cache errors.
 *
 * @example
 * const recent = memoizeByText((text: string) => JSON.parse(text) as unknown, 65_536);
 */
export function memoizeByText<T>(make: (text: string) => T, maxCharacters: number): (text: string) => T {
  const recent = new BoundedMap<string, { readonly value: T }>({
    maxEntries: Number.POSITIVE_INFINITY,
    maxSize: maxCharacters,
    sizeOf: (_, text) => text.length,
  });
  return (text) => {
    const known = recent.get(text);
    if (known) return known.value;
    const value = make(text);
    recent.set(text, { value });
    return value;
  };
}
