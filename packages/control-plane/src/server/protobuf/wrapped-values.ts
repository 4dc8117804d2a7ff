import { formatMicroTime, formatTime, parseJson } from '@bowline/machinery';
import { type Field, type Message, messageOf, type ValueType, type WrappedType } from './message-fields.ts';
import { ProtobufError } from './wire-reader.ts';

/** Wrapped is a message that encodes a value which is not an object in JSON. */
export interface Wrapped {
  readonly message: Message;
  /** unwrap returns the value in JSON; undefined if there is none. */
  readonly unwrap: (message: Readonly<Record<string, unknown>>) => unknown;
}

const TIME = messageWith('Time', { seconds: 'int64', nanos: 'int32' });
const NESTED_SCHEMA = 'apiextensions-v1.JSONSchemaProps';

/** WRAPPED holds all such messages. */
export const WRAPPED: Readonly<Record<WrappedType, Wrapped>> = {
  time: { message: TIME, unwrap: ({ seconds = 0, nanos = 0 }) => timeOf(seconds, nanos, formatTime) },
  microTime: { message: TIME, unwrap: ({ seconds = 0, nanos = 0 }) => timeOf(seconds, nanos, formatMicroTime) },
  quantity: { message: messageWith('Quantity', { string: 'string' }), unwrap: ({ string }) => string ?? '0' },
  intOrString: {
    message: messageWith('IntOrString', { type: 'int64', intVal: 'int32', strVal: 'string' }),
    unwrap: ({ type, intVal = 0, strVal = '' }) => (type === 1 ? strVal : intVal),
  },
  json: {
    message: messageWith('RawExtension', { raw: 'string' }),
    unwrap: ({ raw }) => (typeof raw === 'string' ? parseJson(raw).value : undefined),
  },
  strings: {
    message: messageWith('ExtraValue', { items: 'string' }, 'list'),
    unwrap: ({ items = [] }) => items,
  },
  empty: { message: messageWith('CustomResourceSubresourceStatus', {}), unwrap: () => ({}) },
  schemaOrBoolean: {
    message: messageWith('JSONSchemaPropsOrBool', { allows: 'boolean', schema: 'message' }),
    unwrap: ({ allows = false, schema }) => schema ?? allows,
  },
  schemaOrSchemas: {
    message: messageWith('JSONSchemaPropsOrArray', { schema: 'message', schemas: 'message' }, 'list'),
    unwrap: ({ schema, schemas }) => schemas ?? schema,
  },
  schemaOrStrings: {
    message: messageWith('JSONSchemaPropsOrStringArray', { schema: 'message', property: 'string' }, 'list'),
    unwrap: ({ schema, property }) => property ?? schema,
  },
};

/** messageWith returns a message type with field numbers from 1; `last` is the form of its last field. */
function messageWith(
  name: string,
  types: Readonly<Record<string, ValueType>>,
  last: Field['form'] = 'single',
): Message {
  const entries = Object.entries(types);
  const fields = entries.map(([field, type], index): [number, Field] => {
    const form = index === entries.length - 1 ? last : 'single';
    return [index + 1, { name: field, form, type, hasPresence: false, message: () => messageOf(NESTED_SCHEMA) }];
  });
  return { name, fields: new Map(fields) };
}

/** The range of the years that RFC 3339 supports, in seconds. */
const FIRST_SECOND = -62_167_219_200;
const LAST_SECOND = 253_402_300_799;

/** timeOf formats a time. The API server treats the start of the epoch as a missing time. */
function timeOf(seconds: unknown, nanos: unknown, format: (ms: number) => string): string | undefined {
  const whole = Number(seconds) + Math.floor(Number(nanos) / 1e9);
  if (whole === 0 && nanos === 0) return undefined;
  if (whole < FIRST_SECOND || whole > LAST_SECOND) {
    throw new ProtobufError('Time.MarshalJSON: year outside of range [0,9999]');
  }
  const micros = Math.floor((((Number(nanos) % 1e9) + 1e9) % 1e9) / 1_000);
  return format(whole * 1_000 + micros / 1_000);
}
