import { SERVER_VERSION } from '../discovery/version-route.ts';
import type { Route } from '../http/api-request.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const INFO = { title: 'Kubernetes', version: SERVER_VERSION };

/**
 * openApiV2Route answers with a document of OpenAPI v2 that describes no kind. kubectl asks for it where v3 does not do: to check
 * a `List` by itself before it sends the items. It takes a kind that is not described as it is, and would refuse everything without
 * a document; what is wrong is then found by the server.
 */
export const openApiV2Route: Route = ({ path }, { headers }) => {
  if (path !== '/openapi/v2' && path !== '/openapi/v2/') return undefined;
  // kubectl writes an @ where the type that it gets has a dot.
  if ((headers.accept ?? '').includes('proto-openapi.spec.v2')) {
    return { status: 200, headers: { 'content-type': PROTOBUF }, body: gnosticDocument() };
  }
  const document = { swagger: '2.0', info: INFO, paths: {}, definitions: {} };
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(document) };
};

/** The same in the protobuf of gnostic: `swagger` is the first field of a document, and `info`, with title and version, the second. */
function gnosticDocument(): Uint8Array {
  const info = Buffer.concat([field(1, Buffer.from(INFO.title)), field(2, Buffer.from(INFO.version))]);
  return Buffer.concat([field(1, Buffer.from('2.0')), field(2, info)]);
}

/** A field with a length; numbers and lengths here are below 16 and 128, and take a byte each. */
function field(number: number, value: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from([(number << 3) | 2, value.length]), value]);
}
