import { apiVersionOf } from '@bowline/kubernetes';
import type { Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, otherNamespace } from '../status/api-status.ts';
import type { RequestContext } from './context.ts';
import type { Body } from './decode-body.ts';
import type { FieldValidation } from './write-options.ts';

/** How many unknown fields are named before the rest is only counted. */
const MOST_NAMED = 100;

/** receivedObject makes a draft of a body: of the right kind, in the right place, and without fields that nobody knows. */
export function receivedObject(
  context: RequestContext,
  body: Body,
  strategy: Strategy,
  fieldValidation: FieldValidation,
): Draft {
  const { resource, info } = context;
  const value = asObject(body.value);
  const expected = apiVersionOf(resource);
  const { apiVersion = expected, kind = resource.kind } = value as { apiVersion?: unknown; kind?: unknown };
  if (kind !== resource.kind) {
    throw badRequest(
      `${String(kind)} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: the kind in the data does not match the path`,
    );
  }
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  const { object, unknown } = strategy.decode(value);
  sayUnknown(context, body.duplicates, unknown, fieldValidation);
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

/** sayUnknown refuses, or warns of, what strict readers would not take. */
export function sayUnknown(
  { warnings }: Pick<RequestContext, 'warnings'>,
  duplicates: readonly string[],
  unknown: readonly string[],
  fieldValidation: FieldValidation,
): void {
  if (fieldValidation === 'Ignore') return;
  const problems = [
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
    ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
  ];
  if (problems.length === 0) return;
  if (fieldValidation === 'Strict') {
    throw badRequest(`strict decoding error: ${problems.slice(0, MOST_NAMED).join(', ')}`);
  }
  warnings.push(...problems.slice(0, MOST_NAMED));
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw badRequest('the body of the request is no object');
}
