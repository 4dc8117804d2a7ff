import { describe, expect, it } from 'vitest';
import { requestersOf } from '../pods/requesters.ts';
import { requestingPod } from '../pods/requesting-pod.test-support.ts';
import { forcedBy } from './forced.ts';
import { chooseServing } from './serving.ts';

/** The value of each pod; the name of a pod with a Deployment starts with the Deployment and a slash. */
type PodValues = Readonly<Record<string, string | undefined>>;

function forced(said: PodValues, recorded?: string): string | undefined {
  const pods = Object.entries(said).map(([name, forceSync]) => {
    const of = name.includes('/') ? { of: name.split('/')[0] ?? '' } : {};
    return requestingPod(name, { ...of, ...(forceSync === undefined ? {} : { forceSync }) });
  });
  const [first, ...others] = requestersOf(pods);
  if (!first) throw new TypeError('at least one pod is needed');
  const serving = chooseServing([first, ...others], undefined, () => true);
  return forcedBy(serving, recorded);
}

/** Reports whether values are a new request after the values `before` were satisfied. */
function isNew(said: PodValues, before: PodValues): boolean {
  const recorded = forced(before);
  const now = forced(said, recorded);
  // A satisfied request is recorded.
  expect(forced(said, now)).toBe(now);
  return now !== recorded;
}

describe('forcedBy', () => {
  it('is undefined if no pod has a value', () => {
    expect(forced({ a: undefined })).toBeUndefined();
  });

  it('contains the values with their pods', () => {
    expect(forced({ a: '1', b: '2', c: undefined })).toMatch(/^1@[\w-]{8},2@[\w-]{8}$/);
  });

  it.each<[what: string, said: PodValues, before: PodValues]>([
    ['a pod has another value', { a: '2' }, { a: '1' }],
    ['a pod has an earlier value again', { a: '1' }, { a: '2' }],
    ['a pod has the value of another pod', { a: '2', b: '2' }, { a: '1', b: '2' }],
    ['another pod has the same value', { a: '1', b: '1' }, { a: '1' }],
    ['another pod of the workload has the same value after the first was deleted', { 'web/b': '1' }, { 'web/a': '1' }],
    ['a pod has an empty value for the first time', { a: '' }, { a: undefined }],
    ['two values are joined with a comma', { a: '1,2' }, { a: '1', b: '2' }],
    ['a long value has another ending', { a: `${'x'.repeat(300)}1` }, { a: `${'x'.repeat(300)}2` }],
  ])('changes when %s', (_, said, before) => {
    expect(isNew(said, before)).toBe(true);
  });

  it.each<[what: string, said: PodValues, before: PodValues]>([
    ['a pod is deleted', { a: '1' }, { a: '1', b: '2' }],
    ['no pod has a value any more', { a: undefined }, { a: '1' }],
    ['pods without a value are added', { 'web/a': '1', 'web/b': undefined }, { 'web/a': '1' }],
    [
      'pods are created from a template with the value',
      { 'web/b': '1', 'web/c': '1', 'web/d': '1' },
      { 'web/a': '1', 'web/b': '1' },
    ],
    ['only one of those pods remains', { 'web/c': '1' }, { 'web/a': '1', 'web/b': '1' }],
    ['an empty value stays', { a: '' }, { a: '' }],
  ])('stays when %s', (_, said, before) => {
    expect(isNew(said, before)).toBe(false);
  });

  it('is bounded, and does not change when one of many pods is deleted', () => {
    const many = (count: number): PodValues =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`pod-${index}`, `2026-01-01T00:00:0${index}Z`]));
    expect(isNew(many(29), many(30))).toBe(false);
    expect(forced(many(500))?.length).toBeLessThan(4_000);
    expect(isNew(many(500), many(500))).toBe(false);
  });
});
