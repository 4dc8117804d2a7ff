import { parseApiVersion } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { JsonSyntaxError } from '@bowline/machinery';
import { type Body, summary } from '../bodies/decode-body.ts';
import { badRequest } from '../status/api-status.ts';
import { decodeMessage } from './decode-message.ts';
import { messageOf } from './message-fields.ts';
import { BYTES, ProtobufError, WireReader } from './wire-reader.ts';

/** ExpectedKind is the kind that a body should have, and the default if it specifies none. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The prefix of every body: `k8s` and a zero byte. */
const PREFIX = [0x6b, 0x38, 0x73, 0];
/** DeleteOptions has the version of the group that it is sent to. */
const OPTIONS = 'DeleteOptions';

/**
 * decodeProtobuf decodes a body of `application/vnd.kubernetes.protobuf`: an envelope with the kind, and the object in
 * it.
 */
export function decodeProtobuf(bytes: Uint8Array, expected: ExpectedKind): Body {
  const { apiVersion, kind, raw } = readEnvelope(bytes, expected);
  const { group, version } = parseApiVersion(apiVersion);
  const refuse = (detail: string): never => {
    if (expected.kind === OPTIONS) throw badRequest(detail);
    throw badRequest(
      `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${expected.kind}: ${detail}`,
    );
  };
  const isKnown = kind === OPTIONS || schemaFor(apiVersion, kind) !== undefined;
  if (!isKnown || (expected.kind === OPTIONS && kind !== OPTIONS)) {
    refuse(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  }
  // Modules are named by the first word of their group; types that all groups share have a module of their own.
  const family = group === '' ? 'core' : group.split('.', 1)[0];
  const module = kind === OPTIONS || kind === 'Status' ? 'meta-v1' : `${family}-${version}`;
  try {
    return { value: { apiVersion, kind, ...decodeMessage(raw, messageOf(`${module}.${kind}`)) }, duplicates: [] };
  } catch (error) {
    if (error instanceof ProtobufError || error instanceof JsonSyntaxError) return refuse(error.message);
    throw error;
  }
}

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

/** readEnvelope decodes the envelope of the object. The kind defaults to the expected one. */
function readEnvelope(bytes: Uint8Array, expected: ExpectedKind): Envelope {
  const unrecognized = (problem: string): never => {
    throw badRequest(
      `the object provided is unrecognized (must be of type ${expected.kind}): ${problem} (${summary(bytes)})`,
    );
  };
  if (bytes.length === 0) unrecognized('empty data');
  if (PREFIX.some((byte, index) => bytes[index] !== byte)) {
    unrecognized(`provided data does not appear to be a protobuf message, expected prefix [${PREFIX.join(' ')}]`);
  }
  if (bytes.length === PREFIX.length) unrecognized('empty body');
  try {
    return readParts(new WireReader(bytes.subarray(PREFIX.length)), expected);
  } catch (error) {
    if (error instanceof ProtobufError) unrecognized(error.message);
    throw error;
  }
}

function readParts(reader: WireReader, { apiVersion, kind }: ExpectedKind): Envelope {
  const found: { -readonly [Name in keyof Envelope]: Envelope[Name] } = { apiVersion, kind, raw: new Uint8Array() };
  while (reader.isBefore(reader.end)) {
    const number = reader.tag('Unknown');
    if (reader.wireType !== BYTES || number > 2) reader.skip();
    else if (number === 2) found.raw = reader.bytes();
    else {
      const end = reader.bytesEnd();
      while (reader.isBefore(end)) {
        const name = reader.tag('TypeMeta');
        if (reader.wireType !== BYTES || name > 2) reader.skip();
        else if (name === 1) found.apiVersion = reader.text() || apiVersion;
        else found.kind = reader.text() || kind;
      }
    }
  }
  return found;
}
