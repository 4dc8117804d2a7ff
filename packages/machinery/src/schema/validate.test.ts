import { describe, expect, it } from 'vitest';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import { applyDefaults } from './apply-defaults.ts';
import answers from './fixtures/answers.json' with { type: 'json' };
import { type FixtureCase, fixtureCases } from './fixtures/cases.ts';
import { ruleCases } from './fixtures/rule-cases.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

interface RecordedResult {
  readonly name: string;
  readonly causes: readonly { readonly field: string; readonly reason: string; readonly message: string }[];
  readonly stored?: unknown;
}

const recorded: readonly RecordedResult[] = answers.answers;

const rootOf = (value: StructuralSchema): StructuralSchema => {
  return { type: 'object', properties: { spec: { type: 'object', properties: { value } } } };
};

function ours(fixture: FixtureCase) {
  const root = rootOf(fixture.schema);
  const read = (value: unknown) => {
    const object = { apiVersion: 'probe.bowline.dev/v1', kind: 'Probe', metadata: { name: 'probe' }, spec: { value } };
    return applyDefaults(prune(object, root, { isResource: true }), root);
  };
  const object = read(fixture.value) as { spec: { value?: unknown } };
  const oldValue = 'old' in fixture ? read(fixture.old) : undefined;
  return { object, problems: validate(object, root, { oldValue, isResource: true }) };
}

describe('validate', () => {
  const cases = [...fixtureCases, ...ruleCases].map((fixture, index) => ({ fixture, answer: recorded[index] }));

  it('has a recorded response of the API server for every case', () => {
    expect(recorded.map(({ name }) => name)).toEqual(cases.map(({ fixture }) => fixture.name));
  });

  it.each(cases.map((each) => [each.fixture.name, each] as const))(
    'validates as the API server does: %s',
    (_, { fixture, answer: expected }) => {
      const { object, problems } = ours(fixture);
      const byText = (a: { message: string; field: string }, b: { message: string; field: string }) => {
        return `${a.field} ${a.message}` < `${b.field} ${b.message}` ? -1 : 1;
      };
      // The API server iterates over maps in random order.
      expect([...problems].sort(byText)).toEqual([...(expected?.causes ?? [])].sort(byText));
      if (expected?.causes.length === 0) expect(object.spec.value).toEqual(expected.stored);
    },
  );
});

it('accepts integers beyond 2^53 that were parsed exactly', () => {
  const schema: StructuralSchema = {
    type: 'integer',
    maximum: 10,
    'x-kubernetes-validations': [{ rule: 'self < 9007199254740993', message: 'too large' }],
  };
  const problems = validate(9_007_199_254_740_993n, schema, { path: 'n' });
  expect(problems.map(({ message }) => message)).toEqual([
    'Invalid value: 9007199254740993:  in body should be less than or equal to 10',
    'Invalid value: 9007199254740993: too large',
  ]);
});
