import { expect, it } from 'vitest';
import { codeBlocks } from './doc-examples.ts';
import { refreshQuotes } from './doc-examples-quoted.ts';

const source = `import { it } from 'vitest';

/** one is a number. */
export const one = start(1)
  .then(() => {
    go();
  })
  .end();

export function two() {}

it('Counts, and stops', () => {});
`;
const quote = (link: string, code = 'old\n'): string =>
  `Text.\n\n[a.ts](${link})\n\n\`\`\`ts\n${code}\`\`\`\n\nMore.\n`;

it.each([
  ['the whole file', 'a.ts', source],
  [
    'a declaration with its comment',
    'a.ts#one',
    `${source.slice(source.indexOf('/**'), source.indexOf('export function')).trim()}\n`,
  ],
  ['a call in a chain', 'a.ts#one.then', '.then(() => {\n  go();\n})\n'],
  ['a test by its title', 'a.ts#counts-and-stops', "it('Counts, and stops', () => {});\n"],
])('quotes %s', (_, link, code) => {
  expect(refreshQuotes(quote(link), () => source)).toBe(quote(link, code));
});

it('does not change a page with correct quotes, or blocks without a link before them', () => {
  const page = `${quote('a.ts#two', 'export function two() {}\n')}\n\`\`\`ts\nfree();\n\`\`\`\n`;
  expect(refreshQuotes(page, () => source)).toBe(page);
});

it('reports a part that a file does not have', () => {
  expect(() => refreshQuotes(quote('a.ts#three'), () => source)).toThrow('a.ts has no part "three"');
});

it('skips quoted blocks, which are checked with their files', () => {
  const page = `${quote('a.ts')}\n\`\`\`ts\nfree();\n\`\`\`\n`;
  expect(codeBlocks('page.md', page)).toEqual([{ page: 'page.md', line: 12, code: 'free();\n' }]);
});
