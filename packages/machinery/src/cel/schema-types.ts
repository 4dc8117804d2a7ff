import { additionalSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';
import { asResource, fieldsOf } from './schema-values.ts';
import { BOOL, BYTES, type CelType, DOUBLE, DYN, INT, listOf, mapOf, STRING, simple } from './types.ts';

/**
 * typeOfSchema returns the CEL type of a schema's values, or undefined if rules cannot read them: values without a
 * type, and lists and maps of such values. Rules cannot read the unknown fields that an object preserves either.
 */
export function typeOfSchema(schema: StructuralSchema, options: { readonly isResource: boolean }): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN;
  switch (schema.type) {
    case 'array': {
      const element = schema.items === undefined ? undefined : typeOf(schema.items);
      return element === undefined ? undefined : listOf(element);
    }
    case 'object':
      return objectType(options.isResource ? asResource(schema) : schema);
    case 'string':
      return textType(schema.format);
    case 'boolean':
      return BOOL;
    case 'number':
      return DOUBLE;
    case 'integer':
      return INT;
    default:
      return undefined;
  }
}

function typeOf(schema: StructuralSchema): CelType | undefined {
  return typeOfSchema(schema, { isResource: schema['x-kubernetes-embedded-resource'] === true });
}

function objectType(schema: StructuralSchema): CelType | undefined {
  const additional = additionalSchema(schema);
  if (additional !== undefined) {
    const value = typeOf(additional);
    return value === undefined ? undefined : mapOf(STRING, value);
  }
  const fields = new Map<string, CelType>();
  for (const [escaped, field] of fieldsOf(schema)) {
    const type = typeOf(field.schema);
    if (type !== undefined) fields.set(escaped, type);
  }
  return { kind: 'object', name: 'object', fields };
}

function textType(format: string | undefined): CelType {
  switch (format) {
    case 'byte':
      return BYTES;
    case 'duration':
      return simple('duration');
    case 'date':
    case 'date-time':
      return simple('timestamp');
    default:
      return STRING;
  }
}
