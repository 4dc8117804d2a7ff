import { SERVER_VERSION } from '../discovery/version-route.ts';
import type { Route } from '../http/api-request.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const INFO = { title: 'Kubernetes', version: SERVER_VERSION };

/**
 * openApiV2Route serves an OpenAPI v2 document that describes no kinds. kubectl requests it where v3 is not sufficient:
 * to validate a `List` by itself before it sends the items. It accepts kinds that are not described, and would refuse
 * everything without a document; the server then finds what is invalid.
 */
export const openApiV2Route: Route = ({ path }, { headers }) => {
  if (path !== '/openapi/v2' && path !== '/openapi/v2/') return undefined;
  // kubectl writes an @ where the media type of the response has a dot.
  if ((headers.accept ?? '').includes('proto-openapi.spec.v2')) {
    return { status: 200, headers: { 'content-type': PROTOBUF }, body: gnosticDocument() };
  }
  const document = { swagger: '2.0', info: INFO, paths: {}, definitions: {} };
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) };
};

/**
 * The same document in the protobuf format of gnostic: field 1 is `swagger`, and field 2 is `info`, with title and
 * version.
 */
function gnosticDocument(): Uint8Array {
  const info = Buffer.concat([field(1, Buffer.from(INFO.title)), field(2, Buffer.from(INFO.version))]);
  return Buffer.concat([field(1, Buffer.from('2.0')), field(2, info)]);
}

/** field encodes a length-delimited field; numbers and lengths here are below 16 and 128, and take one byte each. */
function field(number: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}
