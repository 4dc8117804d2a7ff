import { resolveSchema, type Schema } from '@bowline/kubernetes/schemas';
import { fieldNumbers } from './generated/field-numbers.ts';

/** ScalarType is a value with a scalar encoding in protobuf. */
export type ScalarType = 'string' | 'bytes' | 'boolean' | 'int32' | 'int64' | 'double';

/** ZEROS holds the values of missing scalars in protobuf and Go. */
export const ZEROS: Readonly<Record<ScalarType, unknown>> = {
  string: '',
  bytes: '',
  boolean: false,
  int32: 0,
  int64: 0,
  double: 0,
};

/** isScalar distinguishes scalars from messages. */
export function isScalar(type: ValueType): type is ScalarType {
  return type in ZEROS;
}

/** WrappedType is a value that is a message in protobuf but not an object in JSON. */
export type WrappedType =
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  | 'json'
  | 'strings'
  | 'empty'
  | 'schemaOrBoolean'
  | 'schemaOrSchemas'
  | 'schemaOrStrings';

/** ValueType is the encoding of one value in protobuf. */
export type ValueType = ScalarType | WrappedType | 'message';

/** Field is a field of a message. */
export interface Field {
  /** The name in JSON. */
  readonly name: string;
  /** The cardinality: a map has string keys, and the fields of an inlined message belong to the outer one. */
  readonly form: 'single' | 'list' | 'map' | 'inline';
  readonly type: ValueType;
  /** Whether a zero value is written; otherwise it is the same as a missing one. */
  readonly hasPresence: boolean;
  /** The type of a value of type message. */
  readonly message: () => Message;
}

/** Message is a message type. */
export interface Message {
  /** The name that the API server uses. */
  readonly name: string;
  readonly fields: ReadonlyMap<number, Field>;
}

/** Marks of the table, for types that the schema does not specify. */
const MARKED: Readonly<Record<string, WrappedType | undefined>> = {
  '~': 'microTime',
  '?': 'schemaOrBoolean',
  '+': 'schemaOrSchemas',
  '|': 'schemaOrStrings',
  '.': 'empty',
};

/** Matches a field in a line of the table. */
const FIELD = /^(?:(\d+):)?(>?)(.*?)([~?+|.!]?)$/;

const lines = new Map<string, ReadonlyMap<string, string>>();
const messages = new Map<string, Message>();

/**
 * messageOf returns the message type of a definition, for instance `core-v1.PodSpec`. Its field numbers come from a
 * table, its names and types from the schema that also decodes JSON. Both are read when the first message of their kind
 * arrives.
 */
export function messageOf(ref: string): Message {
  let message = messages.get(ref);
  if (!message) {
    const [module = '', name = ''] = ref.split('.', 2);
    message = compile(module, name, resolveSchema({ ref }));
    messages.set(ref, message);
  }
  return message;
}

function compile(module: string, name: string, schema: Schema): Message {
  const fields = new Map<number, Field>();
  let number = 0;
  for (const text of lineOf(module, name).split(' ')) {
    const [, place, inline, field = '', mark = ''] = FIELD.exec(text) ?? [];
    number = place === undefined ? number + 1 : Number(place);
    fields.set(
      number,
      inline ? inlined(module, field, schema) : fieldOf(field, mark, schema.properties?.[field] ?? {}),
    );
  }
  return { name, fields };
}

/** An inlined message has no schema of its own: its properties belong to the outer one. */
function inlined(module: string, name: string, schema: Schema): Field {
  const message = compile(module, name, schema);
  return { name, form: 'inline', type: 'message', hasPresence: true, message: () => message };
}

function fieldOf(name: string, mark: string, schema: Schema): Field {
  const { additionalProperties, items } = schema;
  const form = additionalProperties ? 'map' : items ? 'list' : 'single';
  const value = additionalProperties ?? items ?? schema;
  const type = MARKED[mark] ?? typeOf(value);
  return { name, form, type, hasPresence: mark === '!', message: () => messageOf(value.ref ?? '') };
}

function typeOf({ type, format, ref, intOrString, preserveUnknown, items }: Schema): ValueType {
  if (ref !== undefined) return 'message';
  if (intOrString) return 'intOrString';
  if (preserveUnknown) return 'json';
  // The value of a map cannot be a list: it is a message that contains one.
  if (items) return 'strings';
  switch (format) {
    case 'quantity':
      return 'quantity';
    case 'date-time':
      return 'time';
    case 'byte':
      return 'bytes';
    default:
      if (type === 'integer') return format === 'int32' ? 'int32' : 'int64';
      return type === 'boolean' ? 'boolean' : type === 'number' ? 'double' : 'string';
  }
}

/** refsOf returns the definitions with a name: for instance both kinds of events. */
export function refsOf(name: string): string[] {
  return Object.keys(fieldNumbers)
    .filter((module) => linesOf(module).has(name))
    .map((module) => `${module}.${name}`);
}

function lineOf(module: string, name: string): string {
  const line = linesOf(module).get(name);
  if (line === undefined) throw new TypeError(`no protobuf field numbers are known for ${module}.${name}`);
  return line;
}

function linesOf(module: string): ReadonlyMap<string, string> {
  let known = lines.get(module);
  if (!known) {
    const texts = (fieldNumbers[module] ?? '').trim().split('\n');
    known = new Map(texts.map((text) => [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)]));
    lines.set(module, known);
  }
  return known;
}
