import { describe, expect, it } from 'vitest';
import { kubernetes } from './kind.ts';

describe('the path of a Secret', () => {
  it('is its namespace and its name', () => {
    expect(kubernetes.names('team-b/db.example', undefined)).toEqual(['team-b/db.example']);
  });

  it.each([
    '',
    'db',
    'a/b/c',
    '/db',
    'team/',
    'Team/db',
    'team/Db',
    'te.am/db',
    '../db',
    'team/..',
    'team/a%2fb',
    'team/a b',
  ])('is not %j, which is refused with what a path looks like', (path) => {
    expect(() => kubernetes.names(path, undefined)).toThrow(/a path is namespace\/name/);
  });
});
