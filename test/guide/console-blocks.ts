/** Step is a command of a page and the output that the page shows. */
export interface Step {
  readonly command: string;
  readonly output: string;
}

const consoleBlock = /(?<=^```console\n).*?(?=^```$)/gms;

/** stepsOf returns the commands in the console blocks of a page, in order: lines that start with `$ `, each with the lines below it. */
export function stepsOf(page: string): readonly Step[] {
  return [...page.matchAll(consoleBlock)].flatMap(([block]) => parse(block));
}

/** withOutputs returns a page with new outputs of its commands, in the order of `stepsOf`. */
export function withOutputs(page: string, outputs: readonly string[]): string {
  const left = outputs.values();
  return page.replaceAll(consoleBlock, (block) =>
    parse(block)
      .map(({ command }) => `$ ${command}\n${left.next().value ?? ''}`)
      .join(''),
  );
}

function parse(block: string): readonly Step[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((text) => {
      const end = text.indexOf('\n') + 1;
      return { command: text.slice(0, end - 1), output: text.slice(end) };
    });
}

/** Parts of the output that differ between two runs and are irrelevant for the guide. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\bsha256:[0-9a-f]{64}\b/g, '<digest>'],
  [/\b\d+\.\d MB\b/g, '<size>'],
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>'],
  [/\b([0-9A-F]{2}:){31}[0-9A-F]{2}\b/g, '<fingerprint>'],
  [/\b10\.\d+\.\d+\.\d+\b/g, '<ip>'],
  [/\b127\.0\.0\.1:\d+/g, '127.0.0.1:<port>'],
  // Commits, shortened.
  [/\b(?=[a-f]*\d)[0-9a-f]{12}\b|(?<= at )[0-9a-f]{7}\b/g, '<commit>'],
  [/(Resource Version: +|identity=|port=|transitions=)\S+/g, '$1<any>'],
  [/\b(\d+m)?\d+[sm](?=[\s)])/g, '<age>'],
  // Newer versions of kubectl print the namespace of a deleted object.
  [/ deleted from \S+ namespace/g, ' deleted'],
  [/[ -]{2,}/g, ' '],
  // The last column of a table may be empty.
  [/ +$/gm, ''],
];

/** sameOutput reports whether two outputs differ only in times, IDs, addresses and the width of columns. */
export function sameOutput(a: string, b: string): boolean {
  return normalised(a) === normalised(b);
}

/** normalised returns an output without the parts that differ between runs. */
export function normalised(output: string): string {
  return volatile.reduce((text, [pattern, word]) => text.replaceAll(pattern, word), output);
}
