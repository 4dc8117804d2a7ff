import { describe, expect, it } from 'vitest';
import { askersOf } from '../pods/askers.ts';
import { asking } from '../pods/asking.test-support.ts';
import { forcedBy } from './forced.ts';
import { chooseServing } from './serving.ts';

function forced(values: readonly (string | undefined)[], obeyed?: string): string | undefined {
  const pods = values.map((forceSync, index) =>
    asking(`pod-${index}`, { of: 'web', ...(forceSync === undefined ? {} : { forceSync }) }),
  );
  const [first] = askersOf(pods);
  if (!first) throw new TypeError('nobody asks');
  return forcedBy(
    chooseServing([first], undefined, () => true),
    obeyed,
  );
}

describe('forcedBy', () => {
  it.each<
    [what: string, values: readonly (string | undefined)[], obeyed: string | undefined, answer: string | undefined]
  >([
    ['is nothing when no pod forces', [undefined], undefined, undefined],
    ['is what pods say together, once each and in order', ['b', 'a', 'b', undefined], undefined, 'a,b'],
    ['is new when a pod says something else', ['b'], 'a', 'b'],
    ['stays when a pod that said something is gone', ['a'], 'a,b', 'a,b'],
    ['stays when nobody forces any more', [undefined], 'a', 'a'],
    ['takes a value with a comma for what it is', ['a,b'], 'a,b', 'a,b'],
    ['is new for an empty value', [''], undefined, ''],
    ['remembers an empty value', [''], '', ''],
  ])('%s', (_, values, obeyed, answer) => {
    expect(forced(values, obeyed)).toBe(answer);
  });

  it('is a hash of a long text, always the same', () => {
    const long = forced(['x'.repeat(300)]);
    expect(long).toMatch(/^[0-9a-f]{64}$/);
    expect(forced(['x'.repeat(300)], long)).toBe(long);
  });
});
