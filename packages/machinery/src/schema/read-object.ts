import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import type { FieldProblem } from '../validation/field-problem.ts';
import { applyDefaults } from './apply-defaults.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

/**
 * readObject returns a whole object as the API server reads it, before validation, and as it returns it: without the
 * fields that its schema does not describe, and then with the schema's defaults.
 */
export function readObject(object: unknown, schema: StructuralSchema): unknown {
  return applyDefaults(prune(object, schema, { isResource: true }), schema);
}

/**
 * validateObject returns all problems that the API server reports for a whole object as a client writes it. With
 * `oldObject`, the object is an update of it. Both are read first, as the server does: a field that it never knew is
 * not a change.
 */
export function validateObject(
  object: unknown,
  schema: StructuralSchema,
  { oldObject }: { readonly oldObject?: unknown } = {},
): FieldProblem[] {
  return validate(readObject(object, schema), schema, {
    isResource: true,
    oldValue: oldObject === undefined ? undefined : readObject(oldObject, schema),
  });
}
