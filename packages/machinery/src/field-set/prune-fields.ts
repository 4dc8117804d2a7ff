import type { JsonObject } from '../json/json.ts';
import { appliedSet } from './applied-set.ts';
import type { FieldShape } from './field-shape.ts';
import type { FieldsV1 } from './fields-v1.ts';
import { addNamedFields } from './narrow-fields.ts';
import { removeFields } from './remove-fields.ts';
import { intersectFields, isEmptySet, subtractFields, uniteFields } from './set-operations.ts';

/**
 * pruneFields returns a merged object without the fields that its writer applied last time and leaves out now, unless
 * another manager owns them. `last` is the set that the writer owned, `owned` the set that all managers own from now
 * on, including the writer.
 */
export function pruneFields(merged: JsonObject, last: FieldsV1, owned: FieldsV1, shape: FieldShape): JsonObject {
  if (isEmptySet(subtractFields(last, owned))) return merged;
  const setOf = (object: JsonObject): FieldsV1 => addNamedFields(appliedSet(object, shape), shape);
  const before = addNamedFields(last, shape);
  const all = setOf(merged);
  // Remove everything that the writer ever applied, except what is owned. Removing a field also removes everything in
  // it.
  const stays = uniteFields(setOf(removeFields(merged, before, shape)), addNamedFields(owned, shape));
  const pruned = removeFields(merged, subtractFields(all, stays), shape);
  // Restore removed fields that the writer did not own.
  return removeFields(merged, intersectFields(subtractFields(all, setOf(pruned)), before), shape);
}
