import { isObject, type JsonObject, setMember } from '../json/json.ts';
import { additionalSchema, ownSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';

/**
 * applyDefaults returns a value with the defaults of its schema filled in, as the API server does when it reads one.
 * Null counts as absent if the schema does not allow it. Unchanged parts are shared with the value.
 */
export function applyDefaults(value: unknown, schema: StructuralSchema): unknown {
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined) return value;
    const filled = value.map((item: unknown) =>
      applyDefaults(isUnwantedNull(item, items) ? (items.default ?? null) : item, items),
    );
    return filled.some((item, index) => item !== value[index]) ? filled : value;
  }
  return isObject(value) ? fillObject(value, schema) : value;
}

function fillObject(object: JsonObject, schema: StructuralSchema): unknown {
  const filled: { [key: string]: unknown } = {};
  const additional = additionalSchema(schema);
  let isSame = true;
  for (const [key, value] of Object.entries(object)) {
    const member = ownSchema(schema.properties, key) ?? additional;
    if (member !== undefined && isUnwantedNull(value, member)) {
      isSame = false;
      if (member.default !== undefined) setMember(filled, key, applyDefaults(member.default, member));
      continue;
    }
    const next = member === undefined ? value : applyDefaults(value, member);
    if (next !== value) isSame = false;
    setMember(filled, key, next);
  }
  for (const [key, member] of Object.entries(schema.properties ?? {})) {
    if (member.default === undefined || member.default === null || Object.hasOwn(filled, key)) continue;
    isSame = false;
    setMember(filled, key, applyDefaults(member.default, member));
  }
  return isSame ? object : filled;
}

function isUnwantedNull(value: unknown, schema: StructuralSchema): boolean {
  return value === null && schema.nullable !== true;
}
