/** formatKeys is the text of the annotation `managed-keys`. No key has a comma in it. */
export function formatKeys(keys: Iterable<string>): string {
  return [...keys].sort().join(',');
}

/** parseKeys reverses `formatKeys`. Without the annotation no key is ours. */
export function parseKeys(text: string | undefined): ReadonlySet<string> {
  return new Set(text === undefined || text === '' ? [] : text.split(','));
}
