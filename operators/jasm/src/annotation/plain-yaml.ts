/** PlainYaml is the content of a text that consists only of fields with one word each. */
export interface PlainYaml {
  readonly value: Readonly<Record<string, string>>;
  /** Lines by field. */
  readonly lines: ReadonlyMap<string, number>;
}

// The first character is a letter or a slash, so the value cannot be a number, an indicator or a list item, and the
// rest has no characters with a meaning in YAML: a colon has one only at the end of a word.
const FIELD = /^([A-Za-z]+): ([A-Za-z/](?:[\w/.@+=:-]*[\w/.@+=-])?)$/;

// Words that YAML does not read as text.
const NOT_TEXT = /^(?:null|Null|NULL|true|True|TRUE|false|False|FALSE)$/;

/**
 * plainYaml parses the form that nearly all users write: `provider`, `path` and `secretName` on a line each. It returns
 * undefined for all other texts, and for any text with a problem: the library parses these. It is a hundred times as
 * fast, and there are thousands of such texts when a cluster starts.
 */
export function plainYaml(text: string): PlainYaml | undefined {
  const members = new Map<string, string>();
  const lines = new Map<string, number>();
  const rows = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  for (const [index, row] of rows.entries()) {
    const [, field, word] = FIELD.exec(row) ?? [];
    if (field === undefined || word === undefined || NOT_TEXT.test(word) || NOT_TEXT.test(field)) return undefined;
    if (members.has(field)) return undefined;
    members.set(field, word);
    lines.set(field, index + 1);
  }
  return { value: Object.fromEntries(members), lines };
}
