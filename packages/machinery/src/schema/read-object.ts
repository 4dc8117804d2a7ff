import type { StructuralSchema } from '../structural-schema/structural-schema.ts';
import type { FieldProblem } from '../validation/field-problem.ts';
import { applyDefaults } from './apply-defaults.ts';
import { prune } from './prune.ts';
import { validate } from './validate.ts';

/**
 * readObject is a whole object as the API server takes it in, before it judges it, and as it gives it out again: without the
 * fields that its schema does not know, and then with the schema's defaults.
 */
export function readObject(object: unknown, schema: StructuralSchema): unknown {
  return applyDefaults(prune(object, schema, { isResource: true }), schema);
}

/**
 * validateObject is everything that the API server finds wrong with a whole object as somebody writes it. With `oldObject`
 * the object is an update of that one. Both are read first, as the server does: what it never knew is no change.
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
