import { checkRules } from '../cel/check-rules.ts';
import { hasRules } from '../cel/compile-rules.ts';
import { Correlation } from '../structural-schema/correlation.ts';
import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import type { FieldProblem, FieldProblemReason } from '../validation/field-problem.ts';
import { checkValue } from './check-value.ts';
import { checkEmbedded } from './embedded-resources.ts';
import { checkListTypes } from './list-types.ts';
import { problemOf } from './outcome.ts';

/** ValidateOptions describes a value and the value that it replaces. */
export interface ValidateOptions {
  /** The value before the update. Defaults to none: the value is being created. */
  readonly oldValue?: unknown;
  /** Whether problems of values that the update does not change are ignored. Defaults to true. */
  readonly ratcheting?: boolean | undefined;
  /**
   * The path of the value in the whole object, for the fields of the problems: `status`. Defaults to the object itself.
   */
  readonly path?: string | undefined;
  /**
   * Whether the value is a whole object, so that rules at its root may read apiVersion, kind and metadata.name.
   * Defaults to false.
   */
  readonly isResource?: boolean | undefined;
}

// Rules may rely on these checks: with one of these problems they would fail in confusing ways, or take too long.
const BLOCKING: ReadonlySet<FieldProblemReason> = new Set<FieldProblemReason>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const RULES_NOT_CHECKED: FieldProblem = {
  field: '<nil>',
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

/**
 * validate returns all problems that the API server (1.35) reports for a value: types, bounds, formats, duplicates in
 * sets and list-maps, embedded objects, and rules, with its messages and field paths. Prune the value and apply
 * defaults first.
 *
 * @example
 * validate({ size: 'x' }, Spec.json, { path: 'spec' });
 * // [{ field: 'spec.size', reason: 'FieldValueTypeInvalid', message: 'Invalid value: "string": …' }]
 */
export function validate(value: unknown, schema: StructuralSchema, options: ValidateOptions = {}): FieldProblem[] {
  const base = options.path ?? '';
  const old = options.oldValue;
  const ratcheting = options.ratcheting !== false && old !== undefined;
  const paired = ratcheting ? new Correlation(value, old, schema) : undefined;
  const problems = [
    ...checkValue(value, schema, '', paired).failures.map((failure) => problemOf(failure, base)),
    ...checkEmbedded(value, schema, base),
  ];
  // Lists that already contained duplicates may keep them; the API server cannot determine which one is new.
  if (old === undefined || checkListTypes(old, schema, base).length === 0)
    problems.push(...checkListTypes(value, schema, base));
  if (!hasRules(schema)) return problems;
  if (problems.some(({ reason }) => BLOCKING.has(reason))) return [...problems, RULES_NOT_CHECKED];
  return [
    ...problems,
    ...checkRules(value, schema, { old, paired, path: base, isResource: options.isResource === true }),
  ];
}
