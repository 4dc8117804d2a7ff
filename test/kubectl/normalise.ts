/** What differs between two runs of the same commands and says nothing about the server. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)/g, '<time>'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000/g, '<time>'],
  // As Helm writes them.
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
  // The hash of a template, made from how a Go program prints it, and the five random characters of a generated name.
  [/(?<=-|pod-template-hash[=:] ?)[4-9bcdf]{6,10}\b/g, '<hash>'],
  [/-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])/g, '-<random>'],
  [/(?<=^|[\s(])(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?<=\d[dhms])(?=[\s)]|$)/gm, '<age>'],
  // How often something was seen, and how often somebody looked before a rollout was done.
  [/ \(x\d+ over <age>\)/g, ''],
  [/^Waiting for .*\n/gm, ''],
  // The width of a column follows its longest value.
  [/(?<=\S) {2,}/g, '  '],
  [/ +$/gm, ''],
];

/** The table of events at the end of a description. Those of one second come in an order that chance decides. */
const EVENT_ROWS = /(^ {2}---- {2}------ {2}.*\n)((?: {2}\S.*\n)+)/gm;

function sorted(rows: string): string {
  return rows
    .split(/(?<=\n)/)
    .sort()
    .join('');
}

/** normalised is what a command printed, without what differs from run to run; `own` names more that does, and what for. */
export function normalised(output: string, own: Readonly<Record<string, string>> = {}): string {
  let text = output;
  for (const [value, word] of Object.entries(own)) text = text.replaceAll(value, word);
  for (const [pattern, word] of VOLATILE) text = text.replaceAll(pattern, word);
  return text.replaceAll(EVENT_ROWS, (_, head: string, rows: string) => head + sorted(rows));
}
