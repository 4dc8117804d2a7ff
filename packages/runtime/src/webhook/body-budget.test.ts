import { expect, it } from 'vitest';
import { type ArrivingBody, BodyBudget } from './body-budget.ts';

/** bodies returns functions that create bodies in a budget and report which of them may arrive. */
function bodies(maxBytes: number) {
  const budget = new BodyBudget(maxBytes);
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

it('pauses all bodies but the first while too much is held, including new ones', () => {
  const { begin, flowing } = bodies(100);
  const a = begin('a');
  const b = begin('b');
  b.add(60);
  a.add(39);
  expect(flowing()).toEqual(['a', 'b']);
  a.add(1);
  begin('c');
  expect(flowing()).toEqual(['a']);
  // It may complete: it exceeds the limit by at most one body.
  a.add(30);
  a.complete();
  expect(flowing()).toEqual(['a', 'b']);
});

it('resumes bodies once enough requests have been handled', () => {
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
  // A second disposal has no effect.
  a[Symbol.dispose]();
  c.add(80);
  expect(flowing()).toEqual(['a', 'b']);
});

it('resumes the rest of a body that is no longer needed', () => {
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
