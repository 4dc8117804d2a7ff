import { execFileSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';

const file = pathToFileURL(await bundledProgram('packages/runtime/src/operations/small-heap.ts')).href;
const PREFERRED = `const { preferSmallHeap } = await import('${file}'); preferSmallHeap();`;

/** measure runs a program in a new process, after the given statement, and returns the number it prints. */
function measure(statement: string, program: string): number {
  const text = `import v8 from 'node:v8'; ${statement} ${program}`;
  const flags = ['--expose-gc', '--input-type=module', '--eval', text];
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
}

test('the nursery has 4 MB and keeps that size while many objects survive', () => {
  const nursery = `
    const kept = [];
    for (let i = 0; i < 200_000; i++) kept.push({ name: 'object-' + i, labels: [i] });
    // Objects that a concurrent collection has yet to move would count too: this collection completes before the result is
    // printed.
    gc();
    const nursery = v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
    console.log(kept.length && nursery.space_size);
  `;
  const preferred = measure(PREFERRED, nursery);
  expect(preferred).toBe(4 * 2 ** 20);
  expect(preferred).toBeLessThan(measure('', nursery));
}, 60_000);

test('objects kept for a while and then dropped are collected early', () => {
  const highest = `
    const kept = new Array(100_000);
    let maximum = 0;
    for (let i = 0; i < 1_000_000; i++) {
      kept[i % kept.length] = { name: 'object-' + i, labels: [i], owner: { uids: [i, i] } };
      if (i % 2_000 === 0) maximum = Math.max(maximum, v8.getHeapStatistics().used_heap_size);
    }
    console.log(maximum);
  `;
  expect(measure(PREFERRED, highest) * 1.2).toBeLessThanOrEqual(measure('', highest));
}, 60_000);
