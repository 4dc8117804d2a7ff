import { describe, expect, it, test } from 'vitest';
import type { StructuralSchema, ValidationRule } from '../structural-schema/structural-schema.ts';
import { costProblems } from './cost-problems.ts';
import estimates from './fixtures/rule-cost-estimates.json' with { type: 'json' };
import { costFactor, ruleCosts } from './rule-costs.ts';

interface Recorded {
  readonly isResource: boolean;
  readonly schema: StructuralSchema;
  readonly cardinality: number;
  readonly rules: readonly (ValidationRule & { readonly cost: number })[];
}

// The estimates of the Kubernetes 1.35.8 libraries for the same rules.
const recorded = estimates as readonly Recorded[];

function costOf({ isResource, schema }: Recorded, rule: ValidationRule): number | undefined {
  const withRule = { ...schema, 'x-kubernetes-validations': [rule] };
  return ruleCosts(withRule, { isResource }).rules.find(({ part }) => part === 'rule')?.cost;
}

/** Doubles are exact up to 2^53. */
function expectSame(cost: number | undefined, wanted: number): void {
  if (wanted <= Number.MAX_SAFE_INTEGER) expect(cost).toBe(wanted);
  else expect((cost ?? 0) / wanted).toBeCloseTo(1, 9);
}

describe.each(recorded.map((each, index) => [index, each] as const))('the rules of schema %i', (_, each) => {
  it.each(each.rules)('have the same estimated cost as in the API server: $rule', ({ cost, ...rule }) => {
    expectSame(costOf(each, rule), cost);
  });

  it('are counted for as many values as a request can hold', () => {
    const items = { ...each.schema, 'x-kubernetes-validations': [{ rule: 'true || [1].all(x, true)' }] };
    const one = ruleCosts({ ...items }, { isResource: false }).total;
    const { total } = ruleCosts({ type: 'array', items }, { isResource: false });
    if (!each.isResource) expect(total / one).toBe(each.cardinality);
  });
});

const TEXT = { type: 'string' } as const;
const inSpec = (spec: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { spec } });

test('A rule in bounded lists and maps is counted for each of their values', () => {
  const value: StructuralSchema = { ...TEXT, 'x-kubernetes-validations': [{ rule: 'self.size() > 1' }] };
  const map: StructuralSchema = { type: 'object', maxProperties: 7, additionalProperties: value };
  const list: StructuralSchema = { type: 'array', maxItems: 5, items: map };
  expect(ruleCosts(inSpec(list), { isResource: true }).total).toBe(5 * 7 * 3);
});

test('A messageExpression is counted once, wherever its rule is', () => {
  const rules = [{ rule: 'self.size() > 1', messageExpression: '"is " + self' }];
  const list: StructuralSchema = {
    type: 'array',
    maxItems: 5,
    items: { ...TEXT, maxLength: 10, 'x-kubernetes-validations': rules },
  };
  const { rules: found } = ruleCosts(inSpec(list), { isResource: true });
  expect(found.map(({ part, cost }) => [part, cost])).toEqual([
    ['rule', 15],
    ['messageExpression', 6],
  ]);
});

test('A rule reports the values that are bounded only by the size of a request', () => {
  const spec: StructuralSchema = {
    type: 'object',
    properties: { names: { type: 'array', items: TEXT }, title: TEXT },
    'x-kubernetes-validations': [{ rule: 'self.title.size() > 1 && self.names.all(n, n.matches("a+"))' }],
  };
  const [rule] = ruleCosts(inSpec({ type: 'array', items: spec }), { isResource: true }).rules;
  expect([...(rule?.unbounded ?? [])]).toEqual([
    ['properties[spec]', 'maxItems'],
    ['self.names[*]', 'maxLength'],
    ['self.names', 'maxItems'],
  ]);
});

test('A chain of macros that each use their receiver twice is visited once', () => {
  const chain = `self.?a${'.optMap(x, x)'.repeat(60)}.hasValue()`;
  const schema: StructuralSchema = {
    type: 'object',
    properties: { a: TEXT },
    'x-kubernetes-validations': [{ rule: chain }],
  };
  expect(ruleCosts(schema, { isResource: false }).total).toBeGreaterThan(2 ** 53);
});

test('An unchanged schema may keep a rule that is too expensive, but not rules that are too expensive in total', () => {
  const expensive = { rule: `self.matches("${'a'.repeat(200)}")` };
  const schema = inSpec({ ...TEXT, 'x-kubernetes-validations': [expensive] });
  expect(costProblems(schema, { isUnchanged: false }).single).toHaveLength(1);
  expect(costProblems(schema, { isUnchanged: true })).toEqual({ single: [], together: [] });
  const many = inSpec({ ...TEXT, 'x-kubernetes-validations': Array.from({ length: 9 }, () => expensive) });
  expect(costProblems(many, { isUnchanged: true }).together).toHaveLength(5);
});

test.each([
  [10_000_001, '1.000000x'],
  [10_078_125, '1.007812x'],
  [14_999_999, '1.500000x'],
  [15_000_000, '1.5x'],
  [22_500_000, '2.2x'],
  [27_500_000, '2.8x'],
  [999_999_999, '100.0x'],
  [1_000_000_001, 'more than 100x'],
])('A cost of %i exceeds ten million by a factor of %s', (cost, factor) => {
  expect(costFactor(cost, 10_000_000)).toBe(factor);
});
