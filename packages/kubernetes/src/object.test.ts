import { describe, expect, it } from 'vitest';
import { keyOf, keyString, type ObjectKey, parseKey } from './object.ts';

const keys: readonly (readonly [string, ObjectKey])[] = [
  ['harbour/rope', { namespace: 'harbour', name: 'rope' }],
  ['rope', { name: 'rope' }],
  ['system:node:a.b', { name: 'system:node:a.b' }],
];

describe('object keys', () => {
  it.each(keys)('%s converts to a key and back', (text, key) => {
    expect(keyString(key)).toBe(text);
    expect(parseKey(text)).toEqual(key);
  });

  it('treats an empty namespace as none', () => {
    expect(keyString({ namespace: '', name: 'rope' })).toBe('rope');
    expect(keyOf({ metadata: { namespace: '', name: 'rope' } })).toEqual({ name: 'rope' });
  });

  it('comes from the metadata', () => {
    expect(keyOf({ metadata: { namespace: 'harbour', name: 'rope', uid: 'u' } })).toEqual({
      namespace: 'harbour',
      name: 'rope',
    });
  });

  it.each([{}, { metadata: {} }, { metadata: { name: '' } }, { metadata: { name: undefined } }])(
    'is rejected for an object without a name: %j',
    (object) => {
      expect(() => keyOf(object)).toThrow('the object has no metadata.name');
    },
  );
});
