import { expect, test } from 'vitest';
import { brokenExamples, codeBlocks } from './doc-examples.ts';

const page =
  '# Page\n\n```sh\nnpm test\n```\n\n```ts\nimport { systemClock } from "@bowline/machinery";\nsystemClock.then();\n```\n';

test('finds the TypeScript examples of a page and where they begin', () => {
  const [block, ...others] = codeBlocks('page.md', page);
  expect(others).toEqual([]);
  expect(block).toMatchObject({ page: 'page.md', line: 8 });
});

test('reports the page and line of an example that does not type-check', () => {
  expect(brokenExamples(codeBlocks('page.md', page))).toEqual([expect.stringMatching(/^page\.md:9: .*'then'/)]);
}, 60_000);
