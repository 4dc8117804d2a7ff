import { expect, it } from 'vitest';
import { type ArrivingBody, BodyBudget } from './body-budget.ts';

/** Bodies of a budget, and which of them may arrive. */
function bodies(mostBytes: number) {
  const budget = new BodyBudget(mostBytes);
  const flows = new Map<string, boolean>();
  return {
    begin(name: string) {
      const body: ArrivingBody = { pause: () => flows.set(name, false), resume: () => flows.set(name, true) };
      flows.set(name, true);
      return budget.begin(body);
    },
    flowing: () => [...flows].filter(([, flows]) => flows).map(([name]) => name),
  };
}

it('stops all bodies but the first while too much is held, also those that begin then', () => {
  const { begin, flowing } = bodies(100);
  const a = begin('a');
  const b = begin('b');
  b.add(60);
  a.add(39);
  expect(flowing()).toEqual(['a', 'b']);
  a.add(1);
  begin('c');
  expect(flowing()).toEqual(['a']);
  // It may end: what it takes above the limit is at most one body.
  a.add(30);
  a.complete();
  expect(flowing()).toEqual(['a', 'b']);
});

it('lets bodies arrive again once enough is answered', () => {
  const { begin, flowing } = bodies(100);
  const a = begin('a');
  a.add(90);
  a.complete();
  const b = begin('b');
  const c = begin('c');
  b.add(20);
  expect(flowing()).toEqual(['a', 'b']);
  a[Symbol.dispose]();
  expect(flowing()).toEqual(['a', 'b', 'c']);
  // Twice is once.
  a[Symbol.dispose]();
  c.add(80);
  expect(flowing()).toEqual(['a', 'b']);
});

it('lets the rest of a body flow that nobody wants any more', () => {
  const { begin, flowing } = bodies(100);
  const a = begin('a');
  const b = begin('b');
  a.add(100);
  expect(flowing()).toEqual(['a']);
  b[Symbol.dispose]();
  expect(flowing()).toEqual(['a', 'b']);
  const c = begin('c');
  a[Symbol.dispose]();
  c.add(99);
  expect(flowing()).toEqual(['a', 'b', 'c']);
});
