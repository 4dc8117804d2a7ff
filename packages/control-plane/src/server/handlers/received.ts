import { apiVersionOf } from '@bowline/kubernetes';
import type { ApiResource, Draft, Strategy } from '../registry/api-resource.ts';
import { badRequest, invalid, otherNamespace, StatusError } from '../status/api-status.ts';
import type { RequestContext } from './context.ts';
import type { Body } from './decode-body.ts';
import type { FieldValidation } from './write-options.ts';

/** How many unknown fields are named before the rest is only counted. */
const MOST_NAMED = 100;

/** How much of a body that says nothing of itself is shown. */
const MOST_SHOWN = 200;

/** receivedObject makes a draft of a body: of the right kind, in the right place, and without fields that nobody knows. */
export function receivedObject(
  context: RequestContext,
  body: Body,
  strategy: Strategy,
  fieldValidation: FieldValidation,
): Draft {
  const { resource, info } = context;
  const value = asObject(body.value);
  checkType(resource, value);
  const { object, unknown } = strategy.decode(value);
  try {
    sayUnknown(context, body.duplicates, unknown, fieldValidation);
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

/** checkType refuses an object of another kind or version. One of a built-in kind need not say what it is. */
function checkType(resource: ApiResource, value: Readonly<Record<string, unknown>>): void {
  const isBuiltIn = resource.schema !== undefined;
  const expected = apiVersionOf(resource);
  const { apiVersion = isBuiltIn ? expected : '', kind = isBuiltIn ? resource.kind : '' } = value as {
    apiVersion?: unknown;
    kind?: unknown;
  };
  if (kind !== resource.kind && isBuiltIn)
    throw badRequest(`${handledAs(resource, String(kind))}: the kind in the data does not match the path`);
  if (kind === '') {
    const text = JSON.stringify(value).slice(0, MOST_SHOWN);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing in '${text}'`,
    );
  }
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${String(apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  if (kind === resource.kind) return;
  const { name } = (value.metadata ?? {}) as { name?: unknown };
  const message = `Invalid value: ${JSON.stringify(kind)}: must be ${resource.kind}`;
  throw invalid({ group: resource.group, kind: String(kind) }, String(name ?? ''), [
    { field: 'kind', reason: 'FieldValueInvalid', message },
  ]);
}

function handledAs({ kind, version }: ApiResource, found: string): string {
  return `${found} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
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
