import type { StructuralSchema } from '@bowline/machinery/schema';

const MAX_WIDTH = 120;

/** docComment returns the comment of a field or type, from the description of its schema; empty if there is none. */
export function docComment({ description = '', default: defaultValue }: StructuralSchema, indent: string): string {
  const defaultNote = defaultValue === undefined ? [] : [`Defaults to \`${JSON.stringify(defaultValue)}\`.`];
  const text = [description.trim(), ...defaultNote].filter((part) => part !== '').join('\n');
  if (text === '') return '';
  // A comment terminator in a description would end our comment.
  const lines = text
    .replaceAll('*/', '*\\/')
    .split('\n')
    .flatMap((line) => wrapped(line.trimEnd(), MAX_WIDTH - indent.length - 3));
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${[`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n')}\n`;
}

/** wrapped breaks a line between words; words and indented lines, which are code, stay intact. */
function wrapped(line: string, width: number): readonly string[] {
  if (line.length <= width || /^\s/.test(line)) return [line];
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (longer.length > width && current !== '') {
      lines.push(current);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current];
}
