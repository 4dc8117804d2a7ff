import { describe, expect, it } from 'vitest';
import { kubernetes } from './kind.ts';

describe('the path of a Secret', () => {
  it('consists of namespace and name', () => {
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
  ])('must not be %j; the message describes the path format', (path) => {
    expect(() => kubernetes.names(path, undefined)).toThrow(/a path is namespace\/name/);
  });
});
