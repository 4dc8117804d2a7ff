import { describe, expect, it } from 'vitest';
import { askersOf } from '../pods/askers.ts';
import { asking, type SomePod, someRequest } from '../pods/asking.test-support.ts';
import { chooseServing } from './serving.ts';

type Pods = Readonly<Record<string, SomePod & { readonly path: string }>>;

function choose(pods: Pods, marks: { path?: string; askedBy?: string } | undefined, denied: readonly string[] = []) {
  const all = Object.entries(pods).map(([name, { path, ...pod }]) => asking(name, { ...pod, request: { path } }));
  const [first, ...others] = askersOf(all);
  if (!first) throw new TypeError('nobody asks');
  const seen = marks && {
    requestHash: marks.path === undefined ? undefined : someRequest({ path: marks.path }).hash,
    askedBy: marks.askedBy,
  };
  const { lead, served, rivals } = chooseServing(
    [first, ...others],
    seen,
    ({ workload }) => !denied.includes(workload.name),
  );
  const names = (askers: typeof served): string => askers.map(({ workload }) => workload.name).join(' ');
  return `${lead.workload.name}: ${names(served)} | ${names(rivals)}`;
}

const two: Pods = { a: { at: 1, path: '/a' }, b: { at: 2, path: '/b' } };

describe('chooseServing', () => {
  it.each<[what: string, ...Parameters<typeof choose>, answer: string]>([
    ['serves the oldest when there is no Secret', two, undefined, [], 'a: a | b'],
    ['serves the oldest that may have it', two, undefined, ['a'], 'b: b | a'],
    ['serves somebody even if nobody may', two, undefined, ['a', 'b'], 'a: a | b'],
    ['leaves it to whom it serves', two, { path: '/b' }, [], 'b: b | a'],
    ['leaves it to whom it serves, also without permission', two, { path: '/b' }, ['b'], 'b: b | a'],
    [
      'leaves it to whom it was written for when that asks for something else',
      two,
      { path: '/old', askedBy: 'Pod/b' },
      [],
      'b: b | a',
    ],
    ['gives it to the next when its askers are gone', two, { path: '/old', askedBy: 'Pod/gone' }, [], 'a: a | b'],
    [
      'serves all who ask for the same',
      { ...two, c: { at: 3, path: '/a' } },
      { path: '/a', askedBy: 'Pod/c' },
      [],
      'a: a c | b',
    ],
    [
      'leaves it to those who share it when the one it was written for wants something else',
      { a: { at: 1, path: '/new' }, c: { at: 3, path: '/a' } },
      { path: '/a', askedBy: 'Pod/a' },
      [],
      'c: c | a',
    ],
    [
      'leaves it to pods that are being deleted until they are gone',
      { a: { at: 1, path: '/a', isTerminating: true }, b: { at: 2, path: '/b' } },
      { path: '/a' },
      [],
      'a: a | b',
    ],
    [
      'does not begin with pods that are being deleted',
      { a: { at: 1, path: '/a', isTerminating: true }, b: { at: 2, path: '/b' } },
      undefined,
      [],
      'b: b | a',
    ],
    [
      'lets one that stays lead',
      { a: { at: 1, path: '/a', isTerminating: true }, b: { at: 2, path: '/a' } },
      { path: '/a' },
      [],
      'b: a b | ',
    ],
  ])('%s', (_, pods, marks, denied, answer) => {
    expect(choose(pods, marks, denied)).toBe(answer);
  });
});
