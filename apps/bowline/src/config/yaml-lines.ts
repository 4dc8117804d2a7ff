import { type Document, isMap, isNode, isScalar, type LineCounter } from 'yaml';

/** YamlSource is a parsed document, and the lines of the text that it is part of. */
export interface YamlSource {
  readonly document: Document | undefined;
  readonly lines: LineCounter;
}

/** lineOfField returns the line of a field, or of its nearest parent that exists; undefined if there is none. */
export function lineOfField({ document, lines }: YamlSource, path: readonly (string | number)[]): number | undefined {
  for (let steps = path; steps.length > 0; steps = steps.slice(0, -1)) {
    const key = steps.at(-1);
    const parent: unknown = steps.length === 1 ? document?.contents : document?.getIn(steps.slice(0, -1), true);
    // The key's line, not the value's: a block begins on the next line.
    const pair = isMap(parent) ? parent.items.find((each) => isScalar(each.key) && each.key.value === key) : undefined;
    const node = pair?.key ?? document?.getIn(steps, true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}

/** stepsOf splits a field path: `a.b[1].c` has the steps a, b, 1 and c. */
export function stepsOf(field: string): readonly (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name ?? '') : Number(index),
  );
}
