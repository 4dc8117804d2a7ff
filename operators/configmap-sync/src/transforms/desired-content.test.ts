import { describe, expect, test } from 'vitest';
import type { Transform } from '../api/config-map-sync.ts';
import type { Content } from '../content/content.ts';
import { contentSize, MAX_CONTENT_BYTES } from '../content/content-size.ts';
import { desiredContent } from './desired-content.ts';

const source: Content = { data: { a: 'one', 'b.yaml': 'host: db.internal' }, binaryData: { logo: 'AAEC' } };

const replace = (pattern: string, replacement: string, keys: string[] = ['*']): Transform => ({
  replace: { keys, pattern, replacement },
});

function problemOf(content: Content, transforms: readonly Transform[]): unknown {
  try {
    return desiredContent(content, { transforms: [...transforms] });
  } catch (error) {
    return error;
  }
}

describe('desiredContent', () => {
  test.each<[string, Transform[], Partial<Content>]>([
    ['nothing', [], {}],
    ['a rename', [{ rename: { from: 'a', to: 'z' } }], { data: { z: 'one', 'b.yaml': 'host: db.internal' } }],
    ['a rename of a binary value', [{ rename: { from: 'logo', to: 'icon' } }], { binaryData: { icon: 'AAEC' } }],
    ['a rename of a missing key', [{ rename: { from: 'x', to: 'y' } }], {}],
    ['a rename that looks like a pattern', [{ rename: { from: 'b?yaml', to: 'y' } }], {}],
    ['a rename to itself', [{ rename: { from: 'a', to: 'a' } }], {}],
    [
      'a prefix and a suffix',
      [{ prefix: 'x-' }, { suffix: '.txt' }],
      { data: { 'x-a.txt': 'one', 'x-b.yaml.txt': 'host: db.internal' }, binaryData: { 'x-logo.txt': 'AAEC' } },
    ],
    ['a set', [{ set: { key: 'c', value: 'new' } }], { data: { ...source.data, c: 'new' } }],
    ['a set over a value', [{ set: { key: 'a', value: '' } }], { data: { ...source.data, a: '' } }],
    [
      'a set over a binary value',
      [{ set: { key: 'logo', value: 't' } }],
      { data: { ...source.data, logo: 't' }, binaryData: {} },
    ],
    ['a removal', [{ remove: { key: 'a' } }, { remove: { key: 'x' } }], { data: { 'b.yaml': 'host: db.internal' } }],
    [
      'a replacement with a group',
      [replace('(\\w+)\\.internal', '$1.test')],
      { data: { a: 'one', 'b.yaml': 'host: db.test' } },
    ],
    ['a replacement in some keys', [replace('[a-z]', 'x', ['a'])], { data: { ...source.data, a: 'xxx' } }],
    [
      'a template over the result of earlier transforms',
      [{ rename: { from: 'a', to: 'z' } }, { template: { key: 'out', template: 'z={{ data.z }}' } }],
      { data: { z: 'one', 'b.yaml': 'host: db.internal', out: 'z=one' } },
    ],
    [
      'transforms in their order',
      [
        { set: { key: 'x', value: '1' } },
        { prefix: 'p.' },
        { set: { key: 'x', value: '2' } },
        { remove: { key: 'p.a' } },
      ],
      { data: { 'p.b.yaml': 'host: db.internal', 'p.x': '1', x: '2' }, binaryData: { 'p.logo': 'AAEC' } },
    ],
    [
      'a swap through a third name',
      [
        { rename: { from: 'a', to: 't' } },
        { rename: { from: 'b.yaml', to: 'a' } },
        { rename: { from: 't', to: 'b.yaml' } },
      ],
      { data: { a: 'host: db.internal', 'b.yaml': 'one' } },
    ],
  ])('with %s', (_, transforms, change) => {
    expect(desiredContent(source, { transforms })).toEqual({ ...source, ...change });
  });

  test('transforms only the selected keys', () => {
    const spec = { keys: { include: ['a'] }, transforms: [{ prefix: 'x-' }] };
    expect(desiredContent(source, spec)).toEqual({ data: { 'x-a': 'one' }, binaryData: {} });
    const template = [{ template: { key: 'out', template: "{{ data['b.yaml'] }}" } }];
    expect(() => desiredContent(source, { ...spec, transforms: template })).toThrow(/b\.yaml/);
  });

  test.each<[string, Transform[], string, RegExp]>([
    [
      'two keys into one',
      [{ rename: { from: 'a', to: 'b.yaml' } }],
      'spec.transforms[0].rename',
      /"a" and "b.yaml" would both/,
    ],
    [
      'text and a binary value into one key',
      [{ rename: { from: 'a', to: 'logo' } }],
      'spec.transforms[0].rename',
      /both/,
    ],
    [
      'a key that is too long',
      [{ prefix: 'x' }, { suffix: 'y'.repeat(252) }],
      'spec.transforms[1].suffix',
      /at most 253/,
    ],
    ['a key of two dots', [{ prefix: '..' }], 'spec.transforms[0].prefix', /start with '\.\.'/],
    [
      'a template that uses a missing key',
      [{ template: { key: 'c', template: '{{ data.no }}' } }],
      'spec.transforms[0].template',
      /no/,
    ],
    [
      'a template that reads a binary value',
      [{ template: { key: 'c', template: '{{ data.logo }}' } }],
      'spec.transforms[0].template',
      /logo/,
    ],
    [
      'a template that does not parse',
      [{ template: { key: 'c', template: '{{' } }],
      'spec.transforms[0].template',
      /not closed/,
    ],
    ['a pattern that does not parse', [replace('(', '')], 'spec.transforms[0].replace', /not a valid RE2 expression/],
    ['a group that does not exist', [replace('a', '$1')], 'spec.transforms[0].replace', /no group 1/],
  ])('rejects %s', (_, transforms, field, message) => {
    expect(problemOf(source, transforms)).toMatchObject({
      name: 'ContentProblem',
      reason: 'InvalidSpec',
      field,
      message: expect.stringMatching(message) as string,
    });
  });

  const big: Content = { data: { big: 'x'.repeat(MAX_CONTENT_BYTES) }, binaryData: {} };
  const many: Content = {
    data: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, 'x'.repeat(1_000)])),
    binaryData: {},
  };
  test.each<[string, Content, Transform[], string]>([
    ['one byte too many', big, [{ set: { key: 'a', value: 'y' } }], 'spec.transforms'],
    ['a replacement that explodes', big, [replace('x', 'y'.repeat(60_000))], 'spec.transforms[0].replace'],
    ['many that explode only together', many, [replace('x', 'y'.repeat(1_000))], 'spec.transforms[0].replace'],
    [
      'values that add up',
      big,
      Array.from({ length: 8 }, (_, index) => ({ set: { key: `k${index}`, value: 'x'.repeat(MAX_CONTENT_BYTES) } })),
      'spec.transforms[3].set',
    ],
  ])('reports TooLarge for %s', (_, content, transforms, field) => {
    expect(problemOf(content, transforms)).toMatchObject({ name: 'ContentProblem', reason: 'TooLarge', field });
  });

  test('accepts a result of the maximum size, even if intermediate content is larger', () => {
    expect(contentSize(desiredContent(big, { transforms: [{ prefix: 'x' }] }))).toBe(MAX_CONTENT_BYTES);
    const used = desiredContent(big, {
      transforms: [{ template: { key: 'copy', template: '{{ data.big }}' } }, { remove: { key: 'big' } }],
    });
    expect(Object.keys(used.data)).toEqual(['copy']);
  });

  test('aborts a pattern that would take too long', () => {
    expect(problemOf({ data: { big: 'x'.repeat(50_000) }, binaryData: {} }, [replace('x(.*z)?', '')])).toMatchObject({
      reason: 'InvalidSpec',
      field: 'spec.transforms[0].replace',
      message: expect.stringContaining('simplify the pattern') as string,
    });
  });

  test('keeps keys that are special names in JavaScript', () => {
    const data = JSON.parse('{"__proto__":"a"}') as Record<string, string>;
    const { data: kept } = desiredContent(
      { data, binaryData: {} },
      { transforms: [{ set: { key: 'constructor', value: 'b' } }] },
    );
    expect(Object.entries(kept)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ]);
  });
});
