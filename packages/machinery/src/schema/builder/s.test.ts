import { describe, expect, it } from 'vitest';
import type { NestedValidation } from '../../structural-schema/structural-schema.ts';
import { s } from './s.ts';

describe('s', () => {
  it('renders the schema of a CustomResourceDefinition, with the keys in a fixed order', () => {
    const schema = s
      .object({
        name: s.string().maxLength(5).minLength(1).describe('A name.'),
        size: s.integer().default(1),
        note: s.string().optional(),
      })
      .describe('A thing.');
    expect(JSON.stringify(schema)).toBe(
      '{"description":"A thing.","type":"object","properties":{"name":{"description":"A name.","type":"string","minLength":1,"maxLength":5},' +
        '"size":{"type":"integer","format":"int64","default":1},"note":{"type":"string"}},"required":["name"]}',
    );
  });

  it('never modifies a schema: every method returns a new one', () => {
    const text = s.string();
    const shorter = text.maxLength(3);
    expect(text.json).toEqual({ type: 'string' });
    expect(shorter.json).toEqual({ type: 'string', maxLength: 3 });
    expect(Object.isFrozen(shorter.json)).toBe(true);
    expect(text.optional().isOptional).toBe(true);
    expect(text.isOptional).toBe(false);
  });

  it('keeps a copy of defaults, so that a later change of the value does not change the schema', () => {
    const value = ['a'];
    const schema = s.array(s.string()).default(value);
    value.push('b');
    expect(schema.json.default).toEqual(['a']);
  });

  it('treats the names of inherited members as ordinary field names', () => {
    const schema = s.object({ constructor: s.string(), ['__proto__']: s.string().optional() });
    expect(Object.keys(schema.json.properties ?? {})).toEqual(['constructor', '__proto__']);
    expect(schema.json.required).toEqual(['constructor']);
  });

  it('adds deprecations to the description', () => {
    expect(s.string().describe('Old.').deprecated('use name').json.description).toBe('Old.\n\nDeprecated: use name');
    expect(s.string().deprecated('use name').json.description).toBe('Deprecated: use name');
  });

  it('converts exclusive bounds to the form of Kubernetes', () => {
    expect(s.number().exclusiveMin(0).exclusiveMax(1).json).toEqual({
      type: 'number',
      minimum: 0,
      exclusiveMinimum: true,
      maximum: 1,
      exclusiveMaximum: true,
    });
    expect(s.number().exclusiveMin(0).min(1).json).toEqual({ type: 'number', minimum: 1 });
  });

  it('escapes fields with dashes and reserved names in generated rules', () => {
    const schema = s
      .object({ 'a-b': s.string().optional(), namespace: s.string().optional() })
      .exactlyOneOf('a-b', 'namespace');
    expect(schema.json['x-kubernetes-validations']).toEqual([
      {
        rule: '[has(self.a__dash__b), has(self.__namespace__)].filter(present, present).size() == 1',
        message: 'exactly one of a-b and namespace must be set',
      },
    ]);
  });
});

const anyBranch = (branch: object): NestedValidation => branch;

describe('schemas that the API server would reject', () => {
  it.each<[string, () => unknown, string, RegExp]>([
    [
      'look-around in a pattern',
      () => s.string().pattern('(?=a)'),
      'BOWLINE_SCHEMA_PATTERN',
      /"\(\?=a\)" is not a valid RE2 expression.*remove look-around/,
    ],
    [
      'a back-reference in a branch',
      () => s.string().allOf({ pattern: '(a)\\1' }),
      'BOWLINE_SCHEMA_PATTERN',
      /allOf\[0\]: the pattern/,
    ],
    [
      'a default of a wrong value',
      () => s.string().maxLength(2).default('abc'),
      'BOWLINE_SCHEMA_DEFAULT',
      /default: the default is not valid: default: Too long.*change it/,
    ],
    [
      'a default that a later bound excludes',
      () => s.integer().default(5).max(3),
      'BOWLINE_SCHEMA_DEFAULT',
      /less than or equal to 3/,
    ],
    [
      'a default that breaks a rule',
      () => s.integer().rule('self > 3', { message: 'more' }).default(1),
      'BOWLINE_SCHEMA_DEFAULT',
      /default: Invalid value: 1: more/,
    ],
    [
      'a default with unknown fields',
      () => s.object({ a: s.string().optional() }).default({ b: 1 } as never),
      'BOWLINE_SCHEMA_DEFAULT',
      /fields that are not in the schema/,
    ],
    [
      'a default without a required field',
      () => s.object({ a: s.string() }).default({} as never),
      'BOWLINE_SCHEMA_DEFAULT',
      /default\.a: Required value/,
    ],
    [
      'null as default',
      () => s.string().nullable().default(null),
      'BOWLINE_SCHEMA_DEFAULT',
      /null is not a valid default/,
    ],
    [
      'an example of a wrong value',
      () => s.integer().min(3).example(1),
      'BOWLINE_SCHEMA_INVALID',
      /the example is not valid/,
    ],
    [
      'a set of objects',
      () => s.array(s.object({ a: s.string() })).listType('set'),
      'BOWLINE_SCHEMA_INVALID',
      /items: are objects in a set and must be atomic; use structType/,
    ],
    [
      'a list-map key that is optional',
      () => s.array(s.object({ k: s.string().optional() })).listMapBy('k'),
      'BOWLINE_SCHEMA_INVALID',
      /items\.properties\[k\]: .*make it required or give it a default/,
    ],
    [
      'a list-map key that is not a field',
      () => s.array(s.object({ k: s.string() })).listMapBy('x'),
      'BOWLINE_SCHEMA_INVALID',
      /items\.properties\[x\]: is a key of the list-map but not a field/,
    ],
    [
      'a list-map key that is an object',
      () => s.array(s.object({ k: s.object({}) })).listMapBy('k'),
      'BOWLINE_SCHEMA_INVALID',
      /must be a scalar/,
    ],
    [
      'a list-map of strings',
      () => s.array(s.string()).listMapBy('k'),
      'BOWLINE_SCHEMA_INVALID',
      /items: must be objects/,
    ],
    [
      'nullable items of a set',
      () => s.array(s.string().nullable()).listType('set'),
      'BOWLINE_SCHEMA_INVALID',
      /cannot be nullable in a list of type set/,
    ],
    [
      'an enum of several types',
      () => s.enum(['a', 1] as never),
      'BOWLINE_SCHEMA_INVALID',
      /contains 1, which is not of type string/,
    ],
    ['an enum with a duplicate value', () => s.enum(['a', 'a']), 'BOWLINE_SCHEMA_INVALID', /contains a value twice/],
    [
      'bounds that exclude each other',
      () => s.string().minLength(5).maxLength(3),
      'BOWLINE_SCHEMA_INVALID',
      /minLength 5 is greater than maxLength 3/,
    ],
    ['a fraction as bound of integers', () => s.integer().min(1.5), 'BOWLINE_SCHEMA_INVALID', /use an integer/],
    ['a negative length', () => s.string().minLength(-1), 'BOWLINE_SCHEMA_INVALID', /non-negative/],
    [
      'a format that the API server does not check',
      () => s.string().format('ip'),
      'BOWLINE_SCHEMA_INVALID',
      /does not check the format ip; use a pattern, or one of .*ipv4/,
    ],
    [
      'a type inside a branch',
      () => s.string().anyOf(anyBranch({ type: 'string' })),
      'BOWLINE_SCHEMA_INVALID',
      /anyOf\[0\]: type is not allowed in a branch/,
    ],
    [
      'a branch about a field that does not exist',
      () => s.object({}).oneOf({ properties: { x: { minLength: 1 } } }),
      'BOWLINE_SCHEMA_INVALID',
      /oneOf\[0\]\.properties\[x\]: is not a field/,
    ],
    [
      'a rule about an unknown field',
      () => s.object({ size: s.integer() }).rule('self.sise > 1'),
      'BOWLINE_SCHEMA_RULE',
      /the rule "self.sise > 1": undefined field 'sise'; known fields are size \(line 1, column 5\)/,
    ],
    [
      'a rule that compares two types',
      () => s.object({ size: s.integer() }).rule("self.size == 'a'"),
      'BOWLINE_SCHEMA_RULE',
      /no matching overload for '_==_' applied to '\(int, string\)'/,
    ],
    [
      'a rule that is not a bool',
      () => s.integer().rule('self + 1'),
      'BOWLINE_SCHEMA_RULE',
      /is of type int; it must be a bool/,
    ],
    ['a rule that does not parse', () => s.integer().rule('self >'), 'BOWLINE_SCHEMA_RULE', /Unexpected token/],
    [
      'a function that does not exist',
      () => s.string().rule('self.lenght() > 1'),
      'BOWLINE_SCHEMA_RULE',
      /unknown method lenght/,
    ],
    [
      'a messageExpression that is not a string',
      () => s.integer().rule('self > 1', { messageExpression: 'self' }),
      'BOWLINE_SCHEMA_RULE',
      /its messageExpression "self": is of type int/,
    ],
    [
      'a message in two lines',
      () => s.integer().rule('self > 1', { message: 'a\nb' }),
      'BOWLINE_SCHEMA_RULE',
      /line break/,
    ],
    [
      'a rule in two lines without message',
      () => s.integer().rule('self >\n1'),
      'BOWLINE_SCHEMA_RULE',
      /needs a message/,
    ],
    [
      'a fieldPath to a field that does not exist',
      () => s.object({ a: s.string() }).rule('true', { fieldPath: '.b' }),
      'BOWLINE_SCHEMA_RULE',
      /the fieldPath "\.b" has no field "b"; known fields are a/,
    ],
    [
      'optionalOldSelf without oldSelf',
      () => s.integer().rule('self > 1', { optionalOldSelf: true }),
      'BOWLINE_SCHEMA_RULE',
      /does not use oldSelf/,
    ],
    [
      'oldSelf in the items of an atomic list',
      () => s.object({ l: s.array(s.string().immutable()) }),
      'BOWLINE_SCHEMA_RULE',
      /properties\[l\]\.items: the rule "self == oldSelf" uses oldSelf.*use listMapBy/,
    ],
    [
      'a rule on a value without schema',
      () => s.unknown().rule('true'),
      'BOWLINE_SCHEMA_RULE',
      /cannot read values without a schema/,
    ],
    [
      'cel.bind, which is not available in rules',
      () => s.integer().rule('cel.bind(x, self, x > 1)'),
      'BOWLINE_SCHEMA_RULE',
      /cel.bind is not available in validation rules/,
    ],
  ])('rejects %s', (_, build, code, message) => {
    expect(build).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  it('lets items of a list-map compare with their old value', () => {
    const list = s.array(s.object({ k: s.string(), v: s.string().immutable() })).listMapBy('k');
    expect(() => s.object({ list })).not.toThrow();
  });
});
