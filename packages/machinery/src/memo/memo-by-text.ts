/**
 * memoByText is a function of a text with a memory: what was asked for lately is not made again. It remembers as many texts
 * as have `mostCharacters` together and forgets those first that were not asked for longest. What throws is not remembered.
 *
 * @example
 * const recent = memoByText((text: string) => JSON.parse(text) as unknown, 65_536);
 */
export function memoByText<T>(make: (text: string) => T, mostCharacters: number): (text: string) => T {
  const recent = new Map<string, { readonly value: T }>();
  let characters = 0;
  return (text) => {
    const known = recent.get(text);
    if (known) {
      // Moves it to the end: the map's order is the order of use.
      recent.delete(text);
      recent.set(text, known);
      return known.value;
    }
    const value = make(text);
    if (text.length > mostCharacters) return value;
    recent.set(text, { value });
    characters += text.length;
    for (const oldest of recent.keys()) {
      if (characters <= mostCharacters) break;
      recent.delete(oldest);
      characters -= oldest.length;
    }
    return value;
  };
}
