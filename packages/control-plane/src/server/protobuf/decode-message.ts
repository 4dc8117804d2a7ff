import { MAX_JSON_DEPTH } from '@bowline/machinery';
import { type Field, isScalar, type Message, type ScalarType, type ValueType, ZEROS } from './message-fields.ts';
import { BYTES, FIXED64, ProtobufError, VARINT, WireReader } from './wire-reader.ts';
import { WRAPPED } from './wrapped-values.ts';

type Json = Record<string, unknown>;

const WIRE_TYPES: Readonly<Partial<Record<ValueType, number>>> = {
  boolean: VARINT,
  int32: VARINT,
  int64: VARINT,
  double: FIXED64,
};

/** decodeMessage decodes a message to the JSON that the API server would write for it. It throws a ProtobufError. */
export function decodeMessage(bytes: Uint8Array, message: Message): Json {
  const reader = new WireReader(bytes);
  return readMessage(reader, reader.end, message, {}, 0);
}

function readMessage(reader: WireReader, end: number, message: Message, into: Json, depth: number): Json {
  if (depth > MAX_JSON_DEPTH)
    throw new ProtobufError(`proto: ${message.name}: nests deeper than ${MAX_JSON_DEPTH} levels`);
  while (reader.isBefore(end)) {
    const field = message.fields.get(reader.tag(message.name));
    if (field) readField(reader, field, into, depth + 1);
    else reader.skip();
  }
  return into;
}

function readField(reader: WireReader, field: Field, into: Json, depth: number): void {
  const { name, form, type, hasPresence } = field;
  switch (form) {
    case 'inline':
      readMessage(reader, lengthOf(reader, name), field.message(), into, depth);
      break;
    case 'map': {
      const map = (into[name] as Json | undefined) ?? {};
      into[name] = map;
      readEntry(reader, lengthOf(reader, name), field, map, depth);
      break;
    }
    case 'list': {
      const list = (into[name] as unknown[] | undefined) ?? [];
      into[name] = list;
      // Numbers may be packed.
      if (reader.wireType === BYTES && isScalar(type) && WIRE_TYPES[type] !== undefined) {
        const end = reader.bytesEnd();
        while (reader.isBefore(end)) list.push(readScalar(reader, type));
      } else {
        list.push(readValue(reader, field, undefined, depth) ?? null);
      }
      break;
    }
    default: {
      const value = readValue(reader, field, into[name], depth);
      const isPresent = value !== undefined && (hasPresence || !isScalar(type) || value !== ZEROS[type]);
      if (isPresent || into[name] !== undefined) into[name] = isPresent ? value : undefined;
    }
  }
}

/** readEntry reads one entry of a map: a message of key and value, each of which may be missing. */
function readEntry(reader: WireReader, end: number, field: Field, into: Json, depth: number): void {
  let key = '';
  let value: unknown;
  while (reader.isBefore(end)) {
    const number = reader.tag('Entry');
    if (number === 1) {
      expectWireType(reader, BYTES, field.name);
      key = reader.text();
    } else if (number === 2) value = readValue(reader, field, undefined, depth);
    else reader.skip();
  }
  value ??= emptyValue(field.type);
  // Assigning to `__proto__` would change the prototype of the map.
  if (key === '__proto__')
    Object.defineProperty(into, key, { value, writable: true, enumerable: true, configurable: true });
  else into[key] = value;
}

/** emptyValue returns what the API server writes for a missing value. */
function emptyValue(type: ValueType): unknown {
  if (type === 'message') return {};
  return isScalar(type) ? ZEROS[type] : (WRAPPED[type].unwrap({}) ?? null);
}

/** readValue reads one value; `before` is the value from an earlier part of the same message, which is merged. */
function readValue(reader: WireReader, field: Field, before: unknown, depth: number): unknown {
  const { name, type } = field;
  expectWireType(reader, WIRE_TYPES[type] ?? BYTES, name);
  if (type === 'message') {
    return readMessage(reader, reader.bytesEnd(), field.message(), (before as Json | undefined) ?? {}, depth);
  }
  if (isScalar(type)) return readScalar(reader, type);
  const { message, unwrap } = WRAPPED[type];
  return unwrap(readMessage(reader, reader.bytesEnd(), message, {}, depth));
}

function readScalar(reader: WireReader, type: ScalarType): unknown {
  switch (type) {
    case 'boolean':
      return reader.boolean();
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.int64();
    case 'double':
      return reader.double();
    case 'bytes':
      return reader.base64();
    default:
      return reader.text();
  }
}

function lengthOf(reader: WireReader, name: string): number {
  expectWireType(reader, BYTES, name);
  return reader.bytesEnd();
}

function expectWireType(reader: WireReader, wanted: number, name: string): void {
  if (reader.wireType === wanted) return;
  throw new ProtobufError(`proto: wrong wireType = ${reader.wireType} for field ${goName(name)}`);
}

/** goName returns the API server's name of a field, as far as it follows from JSON. */
function goName(name: string): string {
  return name === 'metadata' ? 'ObjectMeta' : `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
