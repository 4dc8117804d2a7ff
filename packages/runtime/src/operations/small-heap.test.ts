import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** A fresh process that keeps many objects, after the given statement; answers the size of its nursery in bytes. */
function nurseryAfter(statement: string): number {
  const program = `
    import v8 from 'node:v8';
    ${statement}
    const kept = [];
    for (let i = 0; i < 200_000; i++) kept.push({ name: 'object-' + i, labels: [i] });
    console.log(kept.length && v8.getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
  `;
  const flags = ['--conditions=@bowline/source', '--import', 'tsx', '--input-type=module', '--eval', program];
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }));
}

test('the nursery stays at its first size while much is kept', () => {
  const file = new URL('./small-heap.ts', import.meta.url).href;
  const bounded = nurseryAfter(`const { preferSmallHeap } = await import('${file}'); preferSmallHeap();`);
  expect(bounded * 4).toBeLessThanOrEqual(nurseryAfter(''));
}, 60_000);
