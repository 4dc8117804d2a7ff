import type { JsonObject } from '../json/json.ts';
import type { FieldShape } from './field-shape.ts';
import { appliedSet } from './fields-of.ts';
import type { FieldsV1 } from './fields-v1.ts';
import { withNamedFields } from './narrow-fields.ts';
import { removeFields } from './remove-fields.ts';
import { intersectFields, isEmptySet, subtractFields, uniteFields } from './set-operations.ts';

/**
 * pruneFields is a merged object without what its writer applied last time and leaves out now, unless somebody owns it.
 * `last` is what the writer owned, `owned` what everybody owns from now on, the writer included.
 */
export function pruneFields(merged: JsonObject, last: FieldsV1, owned: FieldsV1, shape: FieldShape): JsonObject {
  if (isEmptySet(subtractFields(last, owned))) return merged;
  const setOf = (object: JsonObject): FieldsV1 => withNamedFields(appliedSet(object, shape), shape);
  const before = withNamedFields(last, shape);
  const all = setOf(merged);
  // Without all that the writer ever said, but with what is owned. A field that goes takes with it what is in it.
  const stays = uniteFields(setOf(removeFields(merged, before, shape)), withNamedFields(owned, shape));
  const pruned = removeFields(merged, subtractFields(all, stays), shape);
  // What went without having been the writer's comes back.
  return removeFields(merged, intersectFields(subtractFields(all, setOf(pruned)), before), shape);
}
