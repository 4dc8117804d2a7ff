/**
 * YamlToken is the part of a token of the `yaml` library (its concrete syntax tree) that determines the nesting depth.
 */
export interface YamlToken {
  readonly type: string;
  readonly value?: unknown;
  readonly items?: readonly {
    readonly key?: YamlToken | null | undefined;
    readonly value?: YamlToken | null | undefined;
  }[];
}

/**
 * yamlNestsDeeper reports whether a text, as parsed by the library's Parser, nests deeper than `depth` levels. Call it
 * before the library's Composer: the Composer is recursive, and a stack overflow in it ends the whole process.
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
