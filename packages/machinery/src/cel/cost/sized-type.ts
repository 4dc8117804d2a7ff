import { additionalSchema, type StructuralSchema } from '../../structural-schema/structural-schema.ts';
import { escapeFieldName } from '../field-names.ts';
import { asResource } from '../schema-values.ts';

/** Bound is the schema keyword that limits the size of a value. */
export type Bound = 'maxItems' | 'maxProperties' | 'maxLength';

/**
 * SizedType holds the maximum size of the values of a schema. Lists, maps, text and bytes have a size; all other values
 * have size zero.
 */
export interface SizedType {
  /** The maximum number of items, entries or bytes. */
  readonly maxElements: number;
  /** The length of the shortest JSON of a value, in bytes. */
  readonly minBytes: number;
  /** The missing keyword, if the value is bounded only by the size of a request. */
  readonly missing?: Bound | undefined;
  /** The type of the values of a list or map. */
  readonly element?: SizedType | undefined;
  /** The type of the keys of a map. */
  readonly key?: SizedType | undefined;
  /** The fields of an object by their escaped names. */
  readonly fields?: ReadonlyMap<string, SizedType> | undefined;
}

/** MAX_REQUEST_BYTES is the maximum size of a request that the API server accepts. */
export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

const MAX_TEXT_BYTES = MAX_REQUEST_BYTES - 2;
const BYTES_PER_CHARACTER = 4;
const BOOLEAN: SizedType = { maxElements: 0, minBytes: 4 };
const NUMBER: SizedType = { maxElements: 0, minBytes: 1 };
// The API server assigns no size to keys.
const KEY: SizedType = { maxElements: 0, minBytes: 2 };
const DURATION: SizedType = { maxElements: 32, minBytes: 3 };
const DATE: SizedType = { maxElements: 12, minBytes: 12 };
const DATE_TIME: SizedType = { maxElements: 32, minBytes: 21 };

const sizedValues = new WeakMap<StructuralSchema, SizedType | undefined>();
const sizedResources = new WeakMap<StructuralSchema, SizedType | undefined>();

/**
 * sizedType returns the maximum size of the values of a schema, or undefined if rules cannot read them. The result is
 * cached for the lifetime of the schema.
 */
export function sizedType(schema: StructuralSchema, options: { readonly isResource: boolean }): SizedType | undefined {
  const cache = options.isResource ? sizedResources : sizedValues;
  if (!cache.has(schema)) cache.set(schema, measure(schema, options.isResource));
  return cache.get(schema);
}

function measure(schema: StructuralSchema, isResource: boolean): SizedType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return text(schema, 1);
  switch (schema.type) {
    case 'array':
      return list(schema);
    case 'object':
      return additionalSchema(schema) === undefined ? object(isResource ? asResource(schema) : schema) : map(schema);
    case 'string':
      return formatted(schema);
    case 'boolean':
      return BOOLEAN;
    case 'number':
    case 'integer':
      return NUMBER;
    default:
      return undefined;
  }
}

function inner(schema: StructuralSchema | undefined): SizedType | undefined {
  if (schema === undefined) return undefined;
  return sizedType(schema, { isResource: schema['x-kubernetes-embedded-resource'] === true });
}

function list({ items, maxItems }: StructuralSchema): SizedType | undefined {
  const element = inner(items);
  if (element === undefined) return undefined;
  if (maxItems !== undefined) return { element, minBytes: 2, maxElements: Math.max(0, maxItems) };
  // Every item is followed by a comma, and the list is enclosed in brackets.
  const maxElements = Math.floor((MAX_REQUEST_BYTES - 2) / (element.minBytes + 1));
  return { element, minBytes: 2, maxElements, missing: 'maxItems' };
}

function map(schema: StructuralSchema): SizedType | undefined {
  const element = inner(additionalSchema(schema));
  if (element === undefined) return undefined;
  const { maxProperties } = schema;
  const entries = { key: KEY, element, minBytes: 2 };
  if (maxProperties !== undefined) return { ...entries, maxElements: Math.max(0, maxProperties) };
  // A key of two characters in quotation marks, a colon and a comma.
  const maxElements = Math.floor((MAX_REQUEST_BYTES - 2) / (element.minBytes + 6));
  return { ...entries, maxElements, missing: 'maxProperties' };
}

function object({ properties = {}, required = [] }: StructuralSchema): SizedType {
  const fields = new Map<string, SizedType>();
  let minBytes = 2;
  for (const [name, schema] of Object.entries(properties)) {
    const field = inner(schema);
    if (field === undefined) continue;
    const escaped = escapeFieldName(name);
    if (escaped !== undefined) fields.set(escaped, field);
    // Two quotation marks, a colon and a comma. Fields with a default may be missing in a request, because the server
    // fills them in.
    const isSent = required.includes(name) && (schema.default === undefined || schema.default === null);
    if (isSent) minBytes += Buffer.byteLength(name) + field.minBytes + 4;
  }
  return { fields, minBytes, maxElements: 0 };
}

function formatted(schema: StructuralSchema): SizedType {
  switch (schema.format) {
    case 'duration':
      return DURATION;
    case 'date':
      return DATE;
    case 'date-time':
      return DATE_TIME;
    case 'byte':
      return schema.maxLength === undefined
        ? text(schema, 2)
        : { maxElements: Math.max(0, schema.maxLength), minBytes: 2 };
    default:
      return schema.maxLength === undefined && (schema.enum ?? []).length > 0
        ? { maxElements: maxByteLength(schema.enum ?? []), minBytes: 2 }
        : text(schema, 2);
  }
}

function text({ maxLength }: StructuralSchema, minBytes: number): SizedType {
  if (maxLength === undefined) return { maxElements: MAX_TEXT_BYTES, minBytes, missing: 'maxLength' };
  return { maxElements: Math.max(0, maxLength) * BYTES_PER_CHARACTER, minBytes };
}

function maxByteLength(values: readonly unknown[]): number {
  return Math.max(0, ...values.map((value) => (typeof value === 'string' ? Buffer.byteLength(value) : 0)));
}
