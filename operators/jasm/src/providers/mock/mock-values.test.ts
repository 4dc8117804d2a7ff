import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type MockEntries, mockSecretData, readMockValues, withMockValue } from './mock-values.ts';

const secretOf = (text: string) => ({ data: { 'values.json': Buffer.from(text).toString('base64') } });

describe('the values of the mock', () => {
  it('are read from the Secret as they were stored, for any path', () => {
    const values = new Map<string, MockEntries>([
      ['/prod/db', { user: 'app', password: 'ä=1\n' }],
      ['__proto__', { a: '1' }],
      ['text', 'not JSON'],
    ]);
    const read = readMockValues({ data: mockSecretData(values) });
    expect([...read].sort()).toEqual([...values].sort());
  });

  it('are empty if the Secret is missing or empty', () => {
    expect(readMockValues(undefined).size + readMockValues({}).size + readMockValues({ data: {} }).size).toBe(0);
  });

  it('are replaced and removed by path, and stored independently of their order', () => {
    const a = withMockValue(withMockValue(new Map(), 'a', { k: '1' }), 'b', { k: '2' });
    const b = withMockValue(withMockValue(withMockValue(new Map(), 'b', { k: '2' }), 'a', { old: '0' }), 'a', {
      k: '1',
    });
    expect(mockSecretData(a)).toEqual(mockSecretData(b));
    expect([...withMockValue(a, 'a', undefined).keys()]).toEqual(['b']);
    expect(a.size).toBe(2);
  });

  it.each([
    ['sesame{', /it is not JSON/],
    ['["sesame"]', /not an object of secrets by path/],
    ['{"a": {"k": 1, "l": "sesame"}}', /the secret at "a" is neither/],
    ['{"a": null}', /the secret at "a" is neither/],
  ])('are rejected if they are %s, without revealing them', (text, message) => {
    let thrown: unknown;
    try {
      readMockValues(secretOf(text));
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'BOWLINE_JASM_MOCK_INVALID', message: expect.stringMatching(message) });
    expect(inspect(thrown)).not.toContain('sesame');
  });
});
