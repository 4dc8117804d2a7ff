import { describe, expect, test } from 'vitest';
import { dataHash } from './data-hash.ts';

describe('dataHash', () => {
  test('does not depend on the order of keys, and is the same for missing and empty data', () => {
    expect(dataHash({ a: 'MQ==', b: 'Mg==' })).toBe(dataHash({ b: 'Mg==', a: 'MQ==' }));
    expect(dataHash({})).toBe(dataHash(undefined));
  });

  test.each([
    [{ a: 'MQ==' }, { a: 'Mg==' }],
    [{ a: 'MQ==' }, { b: 'MQ==' }],
    [{ a: '' }, {}],
    [{ a: 'MQ==', b: 'Mg==' }, { a: 'MQ==bMg==' }],
  ])('differs for %j and %j', (one, other) => {
    expect(dataHash(one)).not.toBe(dataHash(other));
  });

  test('is stable across releases, because it is stored on Secrets', () => {
    expect(dataHash({})).toMatchInlineSnapshot(`"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`);
    expect(dataHash({ DB_USER: 'YWRtaW4=', DB_PASSWORD: 'cMOkc3M=' })).toMatchInlineSnapshot(
      `"55a9b50ac96dc69aae3475e905b2c5c71d8c94d583951cb02d426ef661605f00"`,
    );
  });
});
