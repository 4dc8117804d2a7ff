import { apiVersionOf, parseApiVersion } from '@bowline/kubernetes';
import { schemaFor } from '@bowline/kubernetes/schemas';
import { quoteText } from '@bowline/machinery';
import {
  type Body,
  type BodyDecoder,
  decodeBody,
  MAX_BODY_BYTES,
  summary,
  UnreadableBody,
} from '../bodies/decode-body.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { ApiResource, Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, invalid, otherNamespace, StatusError } from '../status/api-status.ts';
import type { RequestContext } from './context.ts';
import type { FieldValidation } from './write-options.ts';

/** MAX_REPORTED_FIELDS limits how many unknown or duplicate fields are reported. */
export const MAX_REPORTED_FIELDS = 100;

/** How many bytes of a body without a kind the error message includes. */
const MAX_SHOWN_BYTES = 200;

/** decodeRequestBody decodes the body of a request that holds an object of a kind. */
export async function decodeRequestBody(
  request: ApiRequest,
  decoders: ReadonlyMap<string, BodyDecoder>,
  { kind, schema }: Pick<ApiResource, 'kind' | 'schema'>,
): ReturnType<typeof decodeBody> {
  const bytes = await request.body(MAX_BODY_BYTES);
  try {
    const body = await decodeBody(bytes, request.headers['content-type'], decoders);
    // Only built-in kinds are determined by the path.
    if (!schema && !body.value.kind) {
      const shown = Buffer.from(bytes.subarray(0, MAX_SHOWN_BYTES)).toString();
      throw new UnreadableBody(`Object 'Kind' is missing in '${shown}'`);
    }
    return body;
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${error.message} (${summary(bytes)})`,
    );
  }
}

/** decodeRequestObject returns a draft of a body: of the right kind, in the right namespace, and without unknown fields. */
export function decodeRequestObject(
  context: RequestContext,
  body: Awaited<ReturnType<typeof decodeRequestBody>>,
  strategy: Strategy,
  fieldValidation: FieldValidation,
): Draft {
  const { resource, info } = context;
  const { value } = body;
  checkType(resource, value);
  const { object, unknown } = strategy.decode(value);
  try {
    reportUnknownFields(context, body, unknown, fieldValidation);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    throw badRequest(`${handledAs(resource, resource.kind)}: ${error.message}`);
  }
  const { metadata } = object;
  if (resource.scope === 'Namespaced') {
    metadata.namespace ||= info.namespace;
    if (metadata.namespace !== info.namespace) {
      throw otherNamespace();
    }
  } else {
    metadata.namespace = undefined;
  }
  return object;
}

/** checkType rejects an object of another kind or version. An object of a built-in kind need not specify them. */
function checkType(resource: ApiResource, value: Readonly<Record<string, unknown>>): void {
  const isBuiltIn = resource.schema !== undefined;
  const expected = apiVersionOf(resource);
  const apiVersion = textOf(value.apiVersion) || (isBuiltIn ? expected : '');
  const kind = textOf(value.kind) || resource.kind;
  if (kind === resource.kind && apiVersion === expected) return;
  if (isBuiltIn) throw badRequest(wrongTypeMessage(resource, apiVersion, kind));
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  const { name } = (value.metadata ?? {}) as { name?: unknown };
  const message = `Invalid value: ${JSON.stringify(kind)}: must be ${resource.kind}`;
  throw invalid({ group: resource.group, kind }, textOf(name), [
    { field: 'kind', reason: 'FieldValueInvalid', message },
  ]);
}

/** wrongTypeMessage reports why an object is not of a built-in kind: it is of another known kind, or of an unknown one. */
function wrongTypeMessage(resource: ApiResource, apiVersion: string, kind: string): string {
  const { version } = parseApiVersion(apiVersion);
  const unhandled = handledAs({ kind: resource.kind, version }, kind);
  if (!schemaFor(apiVersion, kind)) {
    return `${unhandled}: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
  }
  const group = resource.group.split('.', 1)[0] || 'core';
  return `${unhandled}: converting (${version}.${kind}) to (${group}.${resource.kind}): unknown conversion`;
}

function handledAs({ kind, version }: Pick<ApiResource, 'kind' | 'version'>, found: string): string {
  return `${found} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** reportUnknownFields rejects, or warns about, what strict decoding does not accept. */
export function reportUnknownFields(
  { warnings }: Pick<RequestContext, 'warnings'>,
  { duplicates, refusals = duplicates }: Pick<Body, 'duplicates' | 'refusals'>,
  unknown: readonly string[],
  fieldValidation: FieldValidation,
): void {
  if (fieldValidation === 'Ignore') return;
  const isStrict = fieldValidation === 'Strict';
  const problems = [
    ...(isStrict ? refusals : duplicates),
    ...unknown.map((path) => `unknown field ${quoteText(path)}`),
  ].slice(0, MAX_REPORTED_FIELDS);
  if (problems.length === 0) return;
  if (isStrict) throw badRequest(`strict decoding error: ${problems.join(', ')}`);
  warnings.push(...problems);
}
