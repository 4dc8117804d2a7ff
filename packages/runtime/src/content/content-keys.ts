/** The annotations of an object are limited to 256 KiB in total, and other tools need some of that. */
const MAX_KEYS_CHARACTERS = 131_072;

/**
 * formatKeys formats a list of keys for an annotation; undefined when it is too long for one. No key contains a comma.
 */
export function formatKeys(keys: Iterable<string>, maxCharacters = MAX_KEYS_CHARACTERS): string | undefined {
  const text = [...keys].sort().join(',');
  return text.length > maxCharacters ? undefined : text;
}

/** parseKeys reverses `formatKeys`; undefined if the annotation is missing. */
export function parseKeys(text: string | undefined): ReadonlySet<string> | undefined {
  if (text === undefined) return undefined;
  return new Set(text === '' ? [] : text.split(','));
}
