import { expect, it } from 'vitest';
import { keyProblem, metadataLabel, parseLabel, valueLabel } from './label.ts';

it.each([
  ['db', { defaultPath: 'db' }],
  ['db/password', { entry: { path: 'db', key: 'password' }, defaultPath: 'db/password' }],
  ['team/db/tls.crt', { entry: { path: 'team/db', key: 'tls.crt' }, defaultPath: 'team/db/tls.crt' }],
  ['db/-key', { entry: { path: 'db', key: '-key' } }],
  ['db/_metadata', { metadataPath: 'db' }],
  ['team/db/_metadata', { metadataPath: 'team/db' }],
  ['_metadata', undefined],
  ['/_metadata', undefined],
  ['a b', undefined],
  ['a b/c', undefined],
  ['db/a b', undefined],
  ['/db', undefined],
  ['', undefined],
  ['db/', undefined],
])('reads the label %j', (label, expected) => {
  expect(parseLabel(label)).toEqual(expected);
});

it('writes labels that it reads', () => {
  expect(parseLabel(valueLabel('team/db', 'a'))?.entry).toEqual({ path: 'team/db', key: 'a' });
  expect(parseLabel(metadataLabel('team/db'))?.metadataPath).toBe('team/db');
});

it.each([
  ['password', undefined],
  ['__proto__', undefined],
  ['_metadata', /_metadata/],
  ['', /empty/],
  ['a/b', /letters/],
  ['a'.repeat(254), /253/],
])('checks the key %s', (key, problem) => {
  if (problem === undefined) expect(keyProblem(key)).toBeUndefined();
  else expect(keyProblem(key)).toMatch(problem);
});
