import { expect, it } from 'vitest';
import { differences } from './differences.ts';
import { KNOWN } from './known.ts';
import { normalised } from './normalise.ts';

it('tells what is missing once, at the top of it, and knows elements of lists by their names', () => {
  const real = {
    a: [
      { name: 'x', b: 1 },
      { name: 'y', b: 2 },
    ],
    c: { d: 1 },
  };
  const ours = { a: [{ name: 'y', b: 3 }], c: { d: 1 } };
  expect(differences(real, ours)).toEqual([
    { path: 'a.x', real: { name: 'x', b: 1 }, ours: undefined },
    { path: 'a.y.b', real: 2, ours: 3 },
  ]);
});

it('tells another order of the same elements', () => {
  const [found] = differences([{ name: 'x' }, { name: 'y' }], [{ name: 'y' }, { name: 'x' }]);
  expect(found?.path).toBe('.order');
});

it('forgets what every server draws for itself, but not that it is there', () => {
  const body = { metadata: { uid: 'x', name: 'a', namespace: 'case-1' }, message: 'a in case-1' };
  const said = normalised({ status: 200, headers: {}, body }, { namespace: 'case-1', own: 'own-1' });
  expect(said.body).toEqual({ metadata: { uid: 'DRAWN', name: 'a', namespace: 'NS' }, message: 'a in NS' });
});

it('knows at most 40 differences, each by a name of its own and with a reason', () => {
  expect(KNOWN.length).toBeLessThanOrEqual(40);
  expect(new Set(KNOWN.map(({ name }) => name)).size).toBe(KNOWN.length);
  expect(KNOWN.filter(({ reason }) => reason.length < 20)).toEqual([]);
});
