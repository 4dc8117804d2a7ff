// The words reserved by the CEL lexer. `namespace` is the one that is common in Kubernetes.
const RESERVED = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/**
 * escapeFieldName returns the CEL identifier of a property: `__`, `.`, `-` and `/` are replaced by names, reserved
 * words are wrapped. It returns undefined for a name that rules cannot access.
 *
 * @example
 * escapeFieldName('x-prop'); // 'x__dash__prop'
 */
export function escapeFieldName(name: string): string | undefined {
  if (!/^[a-zA-Z_./-][a-zA-Z0-9_./-]*$/.test(name)) return undefined;
  if (RESERVED.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (match) => `__${ESCAPES[match]}__`);
}

const ESCAPES: Readonly<Record<string, string>> = { __: 'underscores', '.': 'dot', '-': 'dash', '/': 'slash' };

/** fieldAccess returns the expression that reads a property of an object: `self.x__dash__prop`. */
export function fieldAccess(object: string, name: string): string {
  return `${object}.${escapeFieldName(name) ?? name}`;
}
