import { describe, expect, it } from 'vitest';
import { requestersOf } from '../pods/requesters.ts';
import { requestingPod, type SomePod, someRequest } from '../pods/requesting-pod.test-support.ts';
import { chooseServing } from './serving.ts';

type Pods = Readonly<Record<string, SomePod & { readonly path: string }>>;

function choose(pods: Pods, marks: { path?: string; askedBy?: string } | undefined, denied: readonly string[] = []) {
  const all = Object.entries(pods).map(([name, { path, ...pod }]) =>
    requestingPod(name, { ...pod, request: { path } }),
  );
  const [first, ...others] = requestersOf(all);
  if (!first) throw new TypeError('at least one pod is needed');
  const seen = marks && {
    requestHash: marks.path === undefined ? undefined : someRequest({ path: marks.path }).hash,
    askedBy: marks.askedBy,
  };
  const { lead, served, rivals } = chooseServing(
    [first, ...others],
    seen,
    ({ workload }) => !denied.includes(workload.name),
  );
  const names = (requesters: typeof served): string => requesters.map(({ workload }) => workload.name).join(' ');
  return `${lead.workload.name}: ${names(served)} | ${names(rivals)}`;
}

const two: Pods = { a: { at: 1, path: '/a' }, b: { at: 2, path: '/b' } };

describe('chooseServing', () => {
  it.each<[what: string, ...Parameters<typeof choose>, answer: string]>([
    ['serves the oldest requester if there is no Secret', two, undefined, [], 'a: a | b'],
    ['serves the oldest requester that is permitted', two, undefined, ['a'], 'b: b | a'],
    ['serves the oldest requester even if none is permitted', two, undefined, ['a', 'b'], 'a: a | b'],
    ['keeps serving the current requester', two, { path: '/b' }, [], 'b: b | a'],
    ['keeps serving the current requester without permission', two, { path: '/b' }, ['b'], 'b: b | a'],
    [
      'keeps serving the current requester when its request changes',
      two,
      { path: '/old', askedBy: 'Pod/b' },
      [],
      'b: b | a',
    ],
    [
      'serves the next requester when the current one is gone',
      two,
      { path: '/old', askedBy: 'Pod/gone' },
      [],
      'a: a | b',
    ],
    [
      'serves all requesters of the same content',
      { ...two, c: { at: 3, path: '/a' } },
      { path: '/a', askedBy: 'Pod/c' },
      [],
      'a: a c | b',
    ],
    [
      'keeps serving those who share it when the first requester changes its request',
      { a: { at: 1, path: '/new' }, c: { at: 3, path: '/a' } },
      { path: '/a', askedBy: 'Pod/a' },
      [],
      'c: c | a',
    ],
    [
      'keeps serving terminating pods until they are gone',
      { a: { at: 1, path: '/a', isTerminating: true }, b: { at: 2, path: '/b' } },
      { path: '/a' },
      [],
      'a: a | b',
    ],
    [
      'does not start to serve terminating pods',
      { a: { at: 1, path: '/a', isTerminating: true }, b: { at: 2, path: '/b' } },
      undefined,
      [],
      'b: b | a',
    ],
    [
      'lets a requester that is not terminating lead',
      { a: { at: 1, path: '/a', isTerminating: true }, b: { at: 2, path: '/a' } },
      { path: '/a' },
      [],
      'b: a b | ',
    ],
  ])('%s', (_, pods, marks, denied, answer) => {
    expect(choose(pods, marks, denied)).toBe(answer);
  });
});
