/** PlainYaml is what a text says that has nothing but fields with a word each. */
export interface PlainYaml {
  readonly value: Readonly<Record<string, string>>;
  /** Lines by field. */
  readonly lines: ReadonlyMap<string, number>;
}

// A letter or a slash at the beginning, so that no number, indicator or sign of a list can be meant, and nothing behind it that YAML
// gives a meaning to: a colon has one only at the end of a word.
const FIELD = /^([A-Za-z]+): ([A-Za-z/](?:[\w/.@+=:-]*[\w/.@+=-])?)$/;

// What YAML takes for something else than text.
const NO_TEXT = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/;

/**
 * plainYaml reads the texts that nearly everybody writes: `provider`, `path` and `secretName` on a line each. Undefined for all others,
 * and for whatever is wrong with a text: the library reads these. It is a hundred times as fast, and a cluster that starts has
 * thousands of them.
 */
export function plainYaml(text: string): PlainYaml | undefined {
  const members = new Map<string, string>();
  const lines = new Map<string, number>();
  const rows = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  for (const [index, row] of rows.entries()) {
    const [, field, word] = FIELD.exec(row) ?? [];
    if (field === undefined || word === undefined || NO_TEXT.test(word) || NO_TEXT.test(field)) return undefined;
    if (members.has(field)) return undefined;
    members.set(field, word);
    lines.set(field, index + 1);
  }
  return { value: Object.fromEntries(members), lines };
}
