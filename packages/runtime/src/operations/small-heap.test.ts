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
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8', timeout: 60_000 }));
}

const NURSERY = `
  // Objects that a concurrent collection has yet to move would count too: this collection completes before the result is
  // returned.
  const nurserySize = () => {
    gc();
    return v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size;
  };
  let last;
  const allocate = (count) => {
    for (let i = 0; i < count; i++) last = { name: 'object-' + i, labels: [i] };
  };
  // The collection shrinks the nursery if the machine was too busy for this process to allocate much.
  const busyNurserySize = async () => {
    for (;;) {
      allocate(50_000);
      await new Promise(setImmediate);
      const size = nurserySize();
      if (size >= 4 * 2 ** 20) return size;
    }
  };
`;

test('the nursery has 4 MB and does not grow while many objects survive', () => {
  const nursery = `
    ${NURSERY}
    const kept = [];
    for (let i = 0; i < 200_000; i++) kept.push({ name: 'object-' + i, labels: [i] });
    console.log(kept.length && await busyNurserySize());
  `;
  const preferred = measure(PREFERRED, nursery);
  expect(preferred).toBe(4 * 2 ** 20);
  expect(preferred).toBeLessThan(measure('', nursery));
}, 60_000);

test('the nursery has 4 MB again when the process becomes busy after a collection has shrunk it', () => {
  // A snapshot begins with a collection that frees as much memory as possible.
  const shrunk = `${NURSERY} v8.getHeapSnapshot().destroy();`;
  expect(measure(PREFERRED, `${shrunk} console.log(nurserySize());`)).toBeLessThan(4 * 2 ** 20);
  expect(measure(PREFERRED, `${shrunk} console.log(await busyNurserySize());`)).toBe(4 * 2 ** 20);
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
