import { expect, it } from 'vitest';
import { JSON_OBJECT_ID, objectIdOf } from './data-type.ts';

const PREFIX = '060a2b06010401868d1f01';

it.each([
  ['text', undefined, 1],
  ['', undefined, 1],
  ['tabs\tand\r\nlines', undefined, 1],
  ['äöü', undefined, 1],
  ['{"a": 1}', undefined, 2],
  [' [1]', undefined, 2],
  ['{not json', undefined, 1],
  ['-----BEGIN CERTIFICATE-----\n', undefined, 3],
  ['\u0000', undefined, 4],
  [Buffer.from([0xff, 0xfe]), undefined, 4],
  ['dGV4dA==', 'base64', 5],
  ['x', 'x509-cert', 6],
  ['x', 'private-key', 7],
  ['{}', 'docker-config', 8],
  ['{}', 'something else', 2],
])('identifies %j of type %s as 1.3.6.1.4.1.99999.1.%i', (value, dataType, last) => {
  expect(objectIdOf(Buffer.from(value), dataType).toString('hex')).toBe(`${PREFIX}0${last}`);
});

it('identifies JSON', () => {
  expect(JSON_OBJECT_ID.toString('hex')).toBe(`${PREFIX}02`);
});
