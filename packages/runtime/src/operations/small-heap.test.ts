import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

const file = new URL('./small-heap.ts', import.meta.url).href;
const PREFERRED = `const { preferSmallHeap } = await import('${file}'); preferSmallHeap();`;

/** Runs a program in a fresh process, after the given statement, and answers the number that it writes. */
function measure(statement: string, program: string): number {
  const text = `import v8 from 'node:v8'; ${statement} ${program}`;
  const flags = [
    '--conditions=@bowline/source',
    '--expose-gc',
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    text,
  ];
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
}

test('the nursery has 4 MB, and keeps that size while much is kept', () => {
  const nursery = `
    const kept = [];
    for (let i = 0; i < 200_000; i++) kept.push({ name: 'object-' + i, labels: [i] });
    // What a collection beside the program has yet to move would count too: this one ends before it answers.
    gc();
    const nursery = v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    console.log(kept.length && nursery.space_size);
  `;
  const preferred = measure(PREFERRED, nursery);
  expect(preferred).toBe(4 * 2 ** 20);
  expect(preferred).toBeLessThan(measure('', nursery));
}, 60_000);

test('what is kept for a while and then dropped is collected before there is much of it', () => {
  const highest = `
    const kept = new Array(100_000);
    let most = 0;
    for (let i = 0; i < 1_000_000; i++) {
      kept[i % kept.length] = { name: 'object-' + i, labels: [i], owner: { uids: [i, i] } };
      if (i % 2_000 === 0) most = Math.max(most, v8.getHeapStatistics().used_heap_size);
    }
    console.log(most);
  `;
  expect(measure(PREFERRED, highest) * 1.2).toBeLessThanOrEqual(measure('', highest));
}, 60_000);
