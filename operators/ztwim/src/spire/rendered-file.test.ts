import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderFile } from './rendered-file.ts';

/** Returns the same value with the members of its objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  );
}

describe('renderFile', () => {
  it('writes JSON with sorted keys, two spaces and a final newline', () => {
    const { text, hash } = renderFile({ b: [{ d: 1, c: undefined }], a: 'x' });
    expect(text).toBe('{\n  "a": "x",\n  "b": [\n    {\n      "d": 1\n    }\n  ]\n}\n');
    expect(hash).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('writes the same bytes for the same configuration', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (config) => {
        const file = renderFile(config);
        expect(renderFile(reversed(config) as object)).toEqual(file);
        expect(JSON.parse(file.text)).toEqual(JSON.parse(JSON.stringify(config)));
      }),
    );
  });
});
