/** Parts of the output that differ between two runs of the same commands regardless of the server. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, '<time>'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, '<time>'],
  // Timestamps as formatted by Helm.
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4} \w+/g, '<time>'],
  [/\b[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}/g, '<time>'],
  [/\bmodifiedAt=\d+/g, 'modifiedAt=<time>'],
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>'],
  [/((?:"resourceVersion"|resourceVersion|Resource Version): +"?)\d+/g, '$1<version>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, '<server>'],
  [/\b10\.\d+\.\d+\.\d+\b/g, '<address>'],
  [/\bbowline-\d+\b/g, '<node>'],
  [/(?<=bowline:\/\/)[0-9a-f]{64}/g, '<id>'],
  [/(?<=kubectl-edit-)\d+/g, '<random>'],
  // The hash of a pod template, which depends on Go's formatting, and the five random characters of a generated name.
  [/(?<=-|pod-template-hash[=:] ?)[4-9bcdf]{6,10}\b/g, '<hash>'],
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])/g, '-<random>'],
  [/(?<=^|[\s(])(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?<=\d[dhms])(?=[\s)]|$)/gm, '<age>'],
  // Event counts, and the number of progress lines before a rollout is complete.
  [/ \(x\d+ over <age>\)/g, ''],
  [/^Waiting for .*\n/gm, ''],
  // The width of a column depends on its longest value.
  [/(?<=\S) {2,}/g, '  '],
  [/ +$/gm, ''],
];

/** The table of events at the end of a description. The order of events within one second is random. */
const EVENT_ROWS = /(^ {2}---- {2}------ {2}.*\n)((?: {2}\S.*\n)+)/gm;

function sorted(rows: string): string {
  return rows
    .split(/(?<=\n)/)
    .sort()
    .join('');
}

/** normalised returns the output of a command without parts that differ between runs; `own` maps further such texts to their replacements. */
export function normalised(output: string, own: Readonly<Record<string, string>> = {}): string {
  let text = output;
  for (const [value, word] of Object.entries(own)) text = text.replaceAll(value, word);
  for (const [pattern, word] of VOLATILE) text = text.replaceAll(pattern, word);
  return text.replaceAll(EVENT_ROWS, (_, head: string, rows: string) => head + sorted(rows));
}
