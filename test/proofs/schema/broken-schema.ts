import { pick, type Random } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';

const text = { type: 'string', maxLength: 5 } as const;
const one = { type: 'object', required: ['k'], properties: { k: text } } as const;

/** Schemas that the API server rejects, and some that look similar but are accepted. */
const DEFECTS: readonly object[] = [
  { type: 'array' },
  {},
  { type: 'object', properties: { a: {} } },
  { type: 'object', properties: { a: text }, additionalProperties: text },
  { type: 'array', items: text, uniqueItems: true },
  { type: 'array', items: one, 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: { ...one, 'x-kubernetes-map-type': 'atomic' }, 'x-kubernetes-list-type': 'set' },
  { type: 'array', items: one, 'x-kubernetes-list-type': 'map' },
  { type: 'array', items: one, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['x'] },
  { type: 'array', items: one, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'k'] },
  { type: 'array', items: one, 'x-kubernetes-list-map-keys': ['k'] },
  {
    type: 'array',
    items: { type: 'object', properties: { k: text } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  },
  {
    type: 'array',
    items: { type: 'object', properties: { k: { ...text, default: 'a' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  },
  { type: 'array', items: { ...text, nullable: true }, 'x-kubernetes-list-type': 'set' },
  {
    type: 'array',
    items: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    'x-kubernetes-list-type': 'set',
  },
  { type: 'string', 'x-kubernetes-map-type': 'atomic' },
  { type: 'string', 'x-kubernetes-list-type': 'atomic' },
  { type: 'string', pattern: '(?=a)' },
  { type: 'string', pattern: '[' },
  { type: 'string', allOf: [{ pattern: '(a)\\1' }] },
  { type: 'string', anyOf: [{ type: 'string' }] },
  { type: 'string', oneOf: [{ description: 'x' }] },
  { type: 'string', not: { default: 'x' } },
  { type: 'object', properties: { a: text }, oneOf: [{ properties: { b: { minLength: 1 } } }] },
  { type: 'object', properties: { a: text }, anyOf: [{ properties: { a: { items: { minLength: 1 } } } }] },
  { type: 'object', properties: { a: text }, allOf: [{ additionalProperties: { minLength: 1 } }] },
  { type: 'string', allOf: [{ 'x-kubernetes-validations': [{ rule: 'true' }] }] },
  { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'string' }, { type: 'integer' }] },
  { type: 'string', 'x-kubernetes-embedded-resource': true },
  { type: 'object', 'x-kubernetes-embedded-resource': true },
  { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
  { ...text, default: 'too long' },
  { ...text, default: 3 },
  { type: 'object', properties: { a: text }, default: { b: 1 } },
  { type: 'object', required: ['a'], properties: { a: text }, default: {} },
  { type: 'integer', default: 2, 'x-kubernetes-validations': [{ rule: 'self > 3' }] },
  { type: 'integer', default: 5, 'x-kubernetes-validations': [{ rule: 'self > 3' }] },
  ...[
    '',
    'self',
    'self >',
    'self.a > 1',
    "self == 'a'",
    'nope(self)',
    'self > 1 &&',
    'oldSelf > self',
    'self in [1, 2.0]',
    'self.size() > 1',
    'has(self)',
    'has(self.a)',
    'self > 1.5',
  ].map((rule) => {
    return { type: 'integer', 'x-kubernetes-validations': [{ rule }] };
  }),
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', message: ' ' }] },
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', message: 'a\nb' }] },
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true ||\nfalse' }] },
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', messageExpression: '1' }] },
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', reason: 'FieldValueTooLong' }] },
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.a' }] },
  { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', optionalOldSelf: true }] },
  { type: 'object', properties: { a: text }, 'x-kubernetes-validations': [{ rule: 'true', fieldPath: '.a' }] },
  { type: 'object', properties: { a: text }, 'x-kubernetes-validations': [{ rule: 'true', fieldPath: 'a' }] },
  { type: 'object', properties: { 'a.b': text }, 'x-kubernetes-validations': [{ rule: 'true', fieldPath: "['a.b']" }] },
  { type: 'array', maxItems: 3, items: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } },
  { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
  // Rules that cost too much, or that would without their bounds.
  ...[
    'self.all(x, self.exists(y, x == y))',
    "self.all(x, x.matches('^a+$'))",
    "self.map(x, x + 'a').join(',') == self.join()",
    'self.sort() == self.distinct()',
    'self.filter(x, x.size() > 2).all(x, x in self)',
    "self.all(x, x != 'a' && x != 'b' && x != 'c' && x != 'd')",
    'self.size() > 3',
  ].flatMap((rule) => {
    const rules = { 'x-kubernetes-validations': [{ rule, messageExpression: "self.join(', ')" }] };
    return [
      { type: 'array', items: { type: 'string' }, ...rules },
      { type: 'array', maxItems: 400, items: { type: 'string' }, ...rules },
      { type: 'array', maxItems: 100, items: text, ...rules },
      { type: 'array', items: { type: 'array', items: text, ...rules } },
      { type: 'object', additionalProperties: { type: 'array', maxItems: 20, items: text, ...rules } },
    ];
  }),
];

/** brokenSchema returns a schema with a defect, alone or inside a valid one. */
export function brokenSchema(random: Random): StructuralSchema {
  // Not all of them are structural schemas, intentionally.
  const defect = pick(random, DEFECTS) as StructuralSchema;
  switch (Math.floor(random.next() * 4)) {
    case 0:
      return { type: 'object', properties: { inner: defect } };
    case 1:
      return { type: 'array', maxItems: 3, items: defect };
    case 2:
      return { type: 'object', maxProperties: 3, additionalProperties: defect };
    default:
      return defect;
  }
}
