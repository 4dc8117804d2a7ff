import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { checksumOf } from './checksum.ts';

const bytes = (text: string) => Buffer.from(text);

it('is the SHA-256 of the sorted keys and values, each after its length', () => {
  const input = Buffer.concat([
    Buffer.from([0, 0, 0, 1]),
    bytes('a'),
    Buffer.from([0, 0, 0, 2]),
    bytes('xy'),
    Buffer.from([0, 0, 0, 1]),
    bytes('b'),
    Buffer.from([0, 0, 0, 0]),
  ]);
  const expected = `sha256:${createHash('sha256').update(input).digest('hex')}`;
  expect(checksumOf({ b: bytes(''), a: bytes('xy') })).toBe(expected);
  expect(checksumOf({ a: bytes('xy'), b: bytes('') })).toBe(expected);
});

it('stays the same in every release', () => {
  expect(checksumOf({})).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(checksumOf({ password: bytes('s3cret'), username: bytes('admin') })).toBe(
    'sha256:cb9a02ea9892b964ae2a124db775cc050b8dc3e4887d6cac18d8966b8d0c9465',
  );
});

it('differs for contents whose concatenations are equal', () => {
  const contents = [{ a: bytes('bc') }, { ab: bytes('c') }, { a: bytes('b'), c: bytes('') }, { abc: bytes('') }];
  expect(new Set(contents.map(checksumOf)).size).toBe(contents.length);
});
