import { parseApiVersion } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { JsonSyntaxError } from '@bowline/machinery';
import { type Body, summary } from '../bodies/decode-body.ts';
import { badRequest } from '../status/api-status.ts';
import { decodeMessage } from './decode-message.ts';
import { messageOf } from './message-fields.ts';
import { BYTES, ProtobufError, WireReader } from './wire-reader.ts';

/** ExpectedKind is what a body should be: who leaves out the kind means it. */
export interface ExpectedKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** What every body begins with: `k8s` and a zero. */
const PREFIX = [0x6b, 0x38, 0x73, 0];
/** Options have the version of the group that they are sent to. */
const OPTIONS = 'DeleteOptions';

/** decodeProtobuf reads a body of `application/vnd.kubernetes.protobuf`: what it is, and in it the object. */
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
  // Modules are called by the first word of their group; what all groups share has one of its own.
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

/** readEnvelope reads what stands around the object. Who leaves out the kind means the one that is expected. */
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
