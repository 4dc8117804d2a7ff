import { isInt64 } from '../json/go-text.ts';
import { isObject, type JsonObject, member } from '../json/json.ts';
import { additionalSchema, ownSchema, type StructuralSchema } from '../structural-schema/structural-schema.ts';
import { parseDurationNs } from '../values/duration.ts';
import { escapeFieldName } from './field-names.ts';
import { parseLenientDuration, parseTimestamp } from './time-text.ts';
import { CelFailure, type CelValue, DurationValue, LazyValue, ListValue, MapValue } from './values.ts';

/** OpaqueValue is data without a schema: it can only be compared. */
export class OpaqueValue {
  readonly type = 'opaque';
  readonly json: unknown;

  constructor(json: unknown) {
    this.json = json;
  }
}

/**
 * Comparisons defines how parts of objects are compared: as values, or as JSON if the schema does not describe them.
 */
export interface Comparisons {
  values(a: CelValue, b: CelValue): boolean;
  json(a: unknown, b: unknown): boolean;
}

/**
 * ObjectValue is an object with a schema. A field is converted to a CEL value once, when an expression first reads it.
 */
export class ObjectValue {
  readonly type = 'map';
  readonly json: JsonObject;
  readonly schema: StructuralSchema;
  readonly #fields = new Map<string, CelValue>();

  constructor(json: JsonObject, schema: StructuralSchema) {
    this.json = json;
    this.schema = schema;
  }

  /** find returns the value of a field by its escaped name. Null counts as absent. */
  find(escaped: string): CelValue | undefined {
    const known = this.#fields.get(escaped);
    if (known !== undefined) return known;
    const field = fieldsOf(this.schema).get(escaped);
    if (field === undefined) return undefined;
    const json = member(this.json, field.name);
    if (json === undefined || json === null) return undefined;
    const value = toValue(json, field.schema);
    this.#fields.set(escaped, value);
    return value;
  }

  /** isSame compares two objects; fields that the schema does not describe are compared as JSON. */
  isSame(other: ObjectValue, isEqual: Comparisons): boolean {
    const keys = Object.keys(this.json);
    if (keys.length !== Object.keys(other.json).length) return false;
    return keys.every((key) => {
      const schema = ownSchema(this.schema.properties, key);
      const mine = member(this.json, key);
      const theirs = member(other.json, key);
      if (schema === undefined) return theirs === undefined || isEqual.json(mine, theirs);
      const isAbsent = mine === undefined || mine === null;
      if (isAbsent || theirs === undefined || theirs === null)
        return isAbsent && (theirs === undefined || theirs === null);
      return isEqual.values(toValue(mine, schema), toValue(theirs, schema));
    });
  }
}

type Fields = ReadonlyMap<string, { readonly name: string; readonly schema: StructuralSchema }>;
const knownFields = new WeakMap<StructuralSchema, Fields>();

/** fieldsOf returns the fields of a schema by their escaped names. */
export function fieldsOf(schema: StructuralSchema): Fields {
  const known = knownFields.get(schema);
  if (known !== undefined) return known;
  const fields = new Map<string, { name: string; schema: StructuralSchema }>();
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeFieldName(name);
    if (escaped === undefined) continue;
    fields.set(escaped, { name, schema: field });
    // Since 1.32, a reserved word may also be written unescaped.
    if (escaped === `__${name}__`) fields.set(name, { name, schema: field });
  }
  knownFields.set(schema, fields);
  return fields;
}

const TEXT: StructuralSchema = Object.freeze({ type: 'string' });
const METADATA: StructuralSchema = Object.freeze({ type: 'object', properties: { name: TEXT, generateName: TEXT } });
const resources = new WeakMap<StructuralSchema, StructuralSchema>();

/**
 * asResource returns the schema of a whole object as rules see it: with apiVersion, kind, metadata.name and
 * generateName.
 */
export function asResource(schema: StructuralSchema): StructuralSchema {
  const known = resources.get(schema);
  if (known !== undefined) return known;
  const properties = { ...schema.properties, kind: TEXT, apiVersion: TEXT, metadata: METADATA };
  const resource = describesResource(schema) ? schema : { ...schema, properties };
  resources.set(schema, resource);
  return resource;
}

/** A schema that describes all of these fields itself may bound them, and is used as is. */
function describesResource({ properties = {} }: StructuralSchema): boolean {
  const { metadata } = properties;
  const texts = [
    properties.kind,
    properties.apiVersion,
    metadata?.properties?.name,
    metadata?.properties?.generateName,
  ];
  return metadata?.type === 'object' && texts.every((schema) => schema?.type === 'string');
}

/** toValue converts JSON to a CEL value; it fails if the JSON does not match the schema. */
export function toValue(json: unknown, schema: StructuralSchema): CelValue {
  if (json === null || json === undefined) {
    if (schema.nullable === true) return null;
    throw new CelFailure('invalid data, got null for schema with nullable=false');
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (typeof json === 'string') return json;
    if (isInteger(json)) return BigInt(json);
    throw new CelFailure('invalid data, expected XIntOrString value to be either a string or integer');
  }
  switch (schema.type) {
    case 'object':
      return objectValue(json, schema);
    case 'array':
      return listValue(json, schema);
    case 'string':
      return textValue(json, schema);
    case 'number':
      if (typeof json === 'number' || typeof json === 'bigint') return Number(json);
      break;
    case 'integer':
      if (isInteger(json)) return BigInt(json);
      break;
    case 'boolean':
      if (typeof json === 'boolean') return json;
      break;
    default:
      return new OpaqueValue(json);
  }
  const expected = { number: 'float', integer: 'int', boolean: 'bool' }[schema.type];
  throw new CelFailure(`invalid data, expected ${expected}, got ${goType(json)}`);
}

function objectValue(json: unknown, schema: StructuralSchema): CelValue {
  if (!isObject(json)) throw new CelFailure('invalid data, expected a map for the provided schema with type=object');
  const additional = additionalSchema(schema);
  if (schema['x-kubernetes-embedded-resource'] === true) return new ObjectValue(json, asResource(schema));
  if (schema.properties !== undefined || additional === undefined) return new ObjectValue(json, schema);
  return new MapValue(
    Object.entries(json).map(([key, value]) => [key, new LazyValue(() => toValue(value, additional))] as const),
  );
}

function listValue(json: unknown, schema: StructuralSchema): CelValue {
  const items = schema.items;
  if (!Array.isArray(json) || items === undefined)
    throw new CelFailure('invalid data, expected an array for the provided schema with type=array');
  const values = { length: json.length, read: (index: number) => toValue(json[index], items) };
  const kind = schema['x-kubernetes-list-type'] ?? 'atomic';
  if (kind !== 'map') return new ListValue(values, { kind });
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keyOf = (item: CelValue): string => {
    return JSON.stringify(keys.map((key) => (item instanceof ObjectValue ? member(item.json, key) : undefined)));
  };
  return new ListValue(values, { kind, keyOf });
}

function textValue(json: unknown, schema: StructuralSchema): CelValue {
  if (typeof json !== 'string') throw new CelFailure(`invalid data, expected string, got ${goType(json)}`);
  switch (schema.format) {
    case 'duration':
      return new DurationValue(durationOf(json));
    case 'date':
      return parseTimestamp(`${json}T00:00:00Z`);
    case 'date-time':
      return parseTimestamp(json);
    case 'byte':
      return Uint8Array.from(Buffer.from(json, 'base64url'));
    default:
      return json;
  }
}

/** Integers beyond 2^53 are bigints if the JSON was parsed exactly. */
function isInteger(json: unknown): json is number | bigint {
  return (typeof json === 'number' || typeof json === 'bigint') && isInt64(json);
}

/** The API server reports Go types. */
function goType(json: unknown): string {
  if (Array.isArray(json)) return '[]interface {}';
  if (typeof json === 'number' || typeof json === 'bigint') return isInt64(json) ? 'int64' : 'float64';
  if (typeof json === 'string') return 'string';
  return typeof json === 'boolean' ? 'bool' : 'map[string]interface {}';
}

function durationOf(text: string): bigint {
  try {
    return parseDurationNs(text);
  } catch {
    return parseLenientDuration(text);
  }
}
