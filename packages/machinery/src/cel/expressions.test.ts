import { describe, expect, it } from 'vitest';
import answers from '../schema/fixtures/answers.json' with { type: 'json' };
import { sample, sampleSchema } from '../schema/fixtures/expressions.ts';
import { validate } from '../schema/validate.ts';
import type { StructuralSchema, ValidationRule } from '../structural-schema/structural-schema.ts';
import { compileRules } from './compile-rules.ts';

interface Recorded {
  readonly source: string;
  readonly isAccepted: boolean;
  readonly refusal?: string;
  readonly message?: string;
}

// Expressions that the API server accepts and that we reject explicitly, rather than evaluate incorrectly.
const UNSUPPORTED: readonly string[] = ['1u == 1u', 'semver("1.2.3").major() == 1', '"%e".format([1.5]) == "x"'];

const recorded: { readonly rules: readonly Recorded[]; readonly texts: readonly Recorded[] } = answers.expressions;
const ruleOf = (source: string): ValidationRule => ({ rule: source });
const textOf = (source: string): ValidationRule => ({ rule: 'false', message: 'no text', messageExpression: source });

describe.each([
  ['rules', recorded.rules, ruleOf],
  ['message expressions', recorded.texts, textOf],
] as const)('%s', (_, expressions, rule) => {
  const schemaOf = (source: string): StructuralSchema => ({
    ...sampleSchema,
    'x-kubernetes-validations': [rule(source)],
  });
  const accepted = expressions.filter(({ source, isAccepted }) => isAccepted && !UNSUPPORTED.includes(source));
  const refused = expressions.filter(({ isAccepted }) => !isAccepted);

  it.each(accepted.map((each) => [each.source, each] as const))(
    'evaluates as the API server does: %s',
    (source, { message }) => {
      const schema = schemaOf(source);
      expect(compileRules(schema, { isResource: false }).problems).toEqual([]);
      expect(validate(sample, schema, { path: 'spec' })[0]?.message).toBe(message);
    },
  );

  it.runIf(refused.length > 0).each(refused.map(({ source }) => [source]))(
    'rejects as the API server does: %s',
    (source) => {
      expect(compileRules(schemaOf(source), { isResource: false }).problems).toHaveLength(1);
    },
  );
});

describe('unsupported expressions', () => {
  it.each(UNSUPPORTED)('rejects an expression that it cannot evaluate as the API server does: %s', (source) => {
    const schema = { ...sampleSchema, 'x-kubernetes-validations': [{ rule: source }] };
    const [problem] = compileRules(schema, { isResource: false }).problems;
    expect(problem?.problem).toMatch(/not supported|unknown function semver/);
  });
});
