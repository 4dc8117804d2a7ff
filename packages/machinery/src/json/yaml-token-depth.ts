/** YamlToken is as much of a token of the library `yaml` (its concrete syntax tree) as tells how deep it nests. */
export interface YamlToken {
  readonly type: string;
  readonly value?: unknown;
  readonly items?: readonly {
    readonly key?: YamlToken | null | undefined;
    readonly value?: YamlToken | null | undefined;
  }[];
}

/**
 * yamlNestsDeeper is whether a text, as the library's Parser reads it, nests deeper than so many levels. Asked before its
 * Composer reads on: that one is recursive, and at the end of the stack it takes the whole process down.
 */
export function yamlNestsDeeper(token: YamlToken | null | undefined, depth: number): boolean {
  if (!token) return false;
  if (token.type === 'document') return yamlNestsDeeper(token.value as YamlToken | undefined, depth);
  if (!token.items) return false;
  return (
    depth === 0 ||
    token.items.some(({ key, value }) => yamlNestsDeeper(key, depth - 1) || yamlNestsDeeper(value, depth - 1))
  );
}
