import type { StructuralSchema } from '../../structural-schema/structural-schema.ts';
import { ArraySchema, EmbeddedSchema, MapSchema, ObjectSchema, UnknownSchema } from './composite-schemas.ts';
import type { Typed } from './infer.ts';
import {
  BooleanSchema,
  DurationSchema,
  EnumSchema,
  IntOrStringSchema,
  NumberSchema,
  StringSchema,
} from './scalar-schemas.ts';
import type { Schema } from './schema.ts';

/** AnySchema is a schema of any type. */
export type AnySchema = Schema<unknown, unknown> & Typed;

/** FieldSchemas holds the schemas of an object's fields. */
export type FieldSchemas = Readonly<Record<string, AnySchema>>;

// The API server also accepts `1 day` and `22 ns` as durations; Go's own parser, which everything else uses, does not.
const GO_DURATION = '^(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$';
const QUANTITY = '^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$';

const DNS_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

const INT_OR_STRING: StructuralSchema = {
  anyOf: Object.freeze([Object.freeze({ type: 'integer' as const }), Object.freeze({ type: 'string' as const })]),
  'x-kubernetes-int-or-string': true,
};

/** object returns the schema of an object with known fields. */
export function object<S extends FieldSchemas>(fields: S): ObjectSchema<S> {
  const properties: Record<string, StructuralSchema> = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(fields)) {
    Object.defineProperty(properties, name, { value: field.json, enumerable: true });
    if (!field.isOptional && field.json.default === undefined) required.push(name);
  }
  return new ObjectSchema<S>({
    type: 'object',
    properties: Object.freeze(properties),
    required: required.length === 0 ? undefined : Object.freeze(required),
  });
}

/** string returns the schema of text. */
export function string(): StringSchema {
  return new StringSchema({ type: 'string' });
}

/**
 * integer returns the schema of a whole number. The format is for readers and code generators: the API server does not
 * check its range, so add bounds where they matter.
 */
export function integer(format: 'int32' | 'int64' = 'int64'): NumberSchema {
  return new NumberSchema({ type: 'integer', format });
}

/** number returns the schema of a number with or without a fraction. */
export function number(): NumberSchema {
  return new NumberSchema({ type: 'number' });
}

/** boolean returns the schema of true or false. */
export function boolean(): BooleanSchema {
  return new BooleanSchema({ type: 'boolean' });
}

/** array returns the schema of a list. */
export function array<I extends AnySchema>(item: I): ArraySchema<I> {
  return new ArraySchema<I>({ type: 'array', items: item.json });
}

/** map returns the schema of an object with arbitrary keys. */
export function map<V extends AnySchema>(value: V): MapSchema<V> {
  return new MapSchema<V>({ type: 'object', additionalProperties: value.json });
}

/** enumeration returns the schema of one of several texts, or of several whole numbers. */
export function enumeration<const T extends string | number>(values: readonly [T, ...T[]]): EnumSchema<T> {
  const type = typeof values[0] === 'string' ? 'string' : 'integer';
  return new EnumSchema<T>({ type, enum: Object.freeze([...values]) });
}

/** intOrString returns the schema of a whole number or text. */
export function intOrString(): IntOrStringSchema {
  return new IntOrStringSchema(INT_OR_STRING);
}

/** quantity returns the schema of a resource quantity: `100m`, `1Gi`, `2`. */
export function quantity(): IntOrStringSchema {
  return new IntOrStringSchema({ ...INT_OR_STRING, pattern: QUANTITY });
}

/** duration returns the schema of a non-negative duration in Go's format. In rules it is a CEL duration. */
export function duration(): DurationSchema {
  return new DurationSchema({ type: 'string', format: 'duration', pattern: GO_DURATION });
}

/**
 * dnsLabel returns the schema of a name as used by namespaces and Services: lower case letters, digits and dashes, at
 * most 63 characters.
 */
export function dnsLabel(): StringSchema {
  return new StringSchema({ type: 'string', minLength: 1, maxLength: 63, pattern: `^${DNS_LABEL}$` });
}

/**
 * dnsSubdomain returns the schema of a name as used by most objects: DNS labels separated by dots, at most 253
 * characters.
 */
export function dnsSubdomain(): StringSchema {
  return new StringSchema({
    type: 'string',
    minLength: 1,
    maxLength: 253,
    pattern: `^${DNS_LABEL}([.]${DNS_LABEL})*$`,
  });
}

/** dateTime returns the schema of an RFC 3339 time. In rules it is a CEL timestamp. */
export function dateTime(): StringSchema {
  return new StringSchema({ type: 'string', format: 'date-time' });
}

/** embedded returns the schema of a whole Kubernetes object. */
export function embedded(): EmbeddedSchema {
  return new EmbeddedSchema({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  });
}

/** unknown returns the schema of any JSON value, unchecked. Rules cannot read it. */
export function unknown<T = unknown>(): UnknownSchema<T> {
  return new UnknownSchema<T>({ 'x-kubernetes-preserve-unknown-fields': true });
}

/**
 * unknownObject returns the schema of any object, unchecked: for Kubernetes types that are too large to describe, such
 * as an affinity.
 */
export function unknownObject<T = { readonly [key: string]: unknown }>(): UnknownSchema<T> {
  return new UnknownSchema<T>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
}
