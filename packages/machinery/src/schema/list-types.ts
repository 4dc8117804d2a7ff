import { formatJson, formatValue } from '../json/go-text.ts';
import { isObject, member } from '../json/json.ts';
import { listMapKeys } from '../structural-schema/correlation.ts';
import { additionalSchema, ownSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';
import type { FieldProblem } from '../validation/field-problem.ts';

/** checkListTypes returns the duplicate items of sets and list-maps. Each is reported at its second occurrence. */
export function checkListTypes(value: unknown, schema: StructuralSchema, path: string): FieldProblem[] {
  if (Array.isArray(value)) {
    const items = schema.items;
    return [
      ...duplicates(value, schema, path),
      ...(items === undefined ? [] : value.flatMap((item, index) => checkListTypes(item, items, `${path}[${index}]`))),
    ];
  }
  if (!isObject(value)) return [];
  const additional = additionalSchema(schema);
  return Object.keys(value).flatMap((key) => {
    const own = ownSchema(schema.properties, key);
    if (own !== undefined) return checkListTypes(value[key], own, path === '' ? key : `${path}.${key}`);
    return additional === undefined ? [] : checkListTypes(value[key], additional, `${path}[${key}]`);
  });
}

function duplicates(items: readonly unknown[], schema: StructuralSchema, path: string): FieldProblem[] {
  if (schema['x-kubernetes-list-type'] === 'set') return repeated(items, items.map(formatJson), path);
  const keys = listMapKeys(schema);
  if (keys === undefined) return [];
  const invalidIndex = items.findIndex((item) => item !== null && !isObject(item));
  if (invalidIndex >= 0) {
    const message = `Invalid value: ${formatValue(items[invalidIndex])}: must be an object for an array of list-type map`;
    return [{ field: `${path}[${invalidIndex}]`, reason: 'FieldValueInvalid', message }];
  }
  const identities = items.map((item) => {
    const present = keys.filter((key) => isObject(item) && member(item, key) !== undefined);
    return Object.fromEntries(present.map((key) => [key, isObject(item) ? item[key] : undefined]));
  });
  return repeated(identities, identities.map(formatJson), path);
}

/** Reports the second item of every group: a third would add no information. */
function repeated(displayedValues: readonly unknown[], texts: readonly string[], path: string): FieldProblem[] {
  const seen = new Map<string, number>();
  const problems: FieldProblem[] = [];
  for (const [index, text] of texts.entries()) {
    const times = (seen.get(text) ?? 0) + 1;
    seen.set(text, times);
    if (times !== 2) continue;
    const message = `Duplicate value: ${formatValue(displayedValues[index])}`;
    problems.push({ field: `${path}[${index}]`, reason: 'FieldValueDuplicate', message });
  }
  return problems;
}
