import type { FieldRequirement, LabelRequirement } from '@bowline/machinery';
import {
  InputError,
  JsonSyntaxError,
  parseFieldSelector,
  parseJson,
  parseLabelSelector,
  quoteText,
  type Selector,
} from '@bowline/machinery';
import type { ApiResource } from '../registry/api-resource.ts';
import { badRequest, expired, invalid, StatusError } from '../status/api-status.ts';
import { objectOf, type Stored, splitKey } from '../storage/stored.ts';

/** Filter selects objects of a collection. */
export interface Filter {
  /** Whether it matches everything. */
  readonly isEmpty: boolean;
  matches(stored: Stored): boolean;
}

/** ListOptions holds the validated query parameters of a list or watch. */
export interface ListOptions {
  readonly filter: Filter;
  readonly limit: number | undefined;
  readonly after: { readonly revision: number; readonly key: string } | undefined;
  /** Undefined if the newest state is requested; 0 if any state will do. */
  readonly resourceVersion: number | undefined;
  readonly match: 'Exact' | 'NotOlderThan' | undefined;
}

/** listOptions parses the parameters of a list; invalid ones throw the API server's error. */
export function listOptions(resource: ApiResource, query: URLSearchParams, name = ''): ListOptions {
  const resourceVersion = readVersion(query.get('resourceVersion'), 'list');
  const token = query.get('continue') || undefined;
  const limit = Math.max(readInteger(query.get('limit')) ?? 0, 0);
  readInteger(query.get('timeoutSeconds'));
  const match = query.get('resourceVersionMatch') || undefined;
  const given = query.get('resourceVersion') || undefined;
  const wrong = (field: string, message: string, reason: 'FieldValueForbidden' | 'FieldValueNotSupported'): never => {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [{ field, reason, message }]);
  };
  if (query.has('sendInitialEvents'))
    wrong('sendInitialEvents', 'Forbidden: sendInitialEvents is forbidden for list', 'FieldValueForbidden');
  if (match !== undefined) {
    if (!given)
      wrong(
        'resourceVersionMatch',
        'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
        'FieldValueForbidden',
      );
    if (token)
      wrong(
        'resourceVersionMatch',
        'Forbidden: resourceVersionMatch is forbidden when continue is provided',
        'FieldValueForbidden',
      );
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      wrong(
        'resourceVersionMatch',
        `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
        'FieldValueNotSupported',
      );
    }
    if (match === 'Exact' && given === '0') {
      wrong(
        'resourceVersionMatch',
        'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        'FieldValueForbidden',
      );
    }
  }
  if (token && given && given !== '0')
    throw badRequest('specifying resource version is not allowed when using continue');
  return {
    filter: filterOf(resource, query, name),
    limit: limit === 0 ? undefined : limit,
    after: token === undefined ? undefined : readToken(token),
    resourceVersion,
    match: match as ListOptions['match'],
  };
}

/** readVersion parses a resource version; it returns undefined if none is given. */
export function readVersion(text: string | null, of: 'list' | 'other' = 'other'): number | undefined {
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  const problem = `resourceVersion: Invalid value: ${quoteText(text)}: strconv.ParseUint: parsing ${quoteText(text)}: invalid syntax`;
  // Only lists treat this as a client error.
  throw of === 'list' ? badRequest(`invalid resource version: ${problem}`) : new StatusError(500, undefined, problem);
}

/** readInteger parses an integer query parameter; it returns undefined if none is given. */
export function readInteger(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const refuse = (why: string): never => {
    throw badRequest(`strconv.ParseInt: parsing ${quoteText(text)}: ${why}`);
  };
  if (!/^[+-]?\d+$/.test(text)) return refuse('invalid syntax');
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? Number(value) : refuse('value out of range');
}

/** filterOf combines the selectors of a query and the name in its path into one filter. */
export function filterOf(resource: ApiResource, query: URLSearchParams, name = ''): Filter {
  const labels = readSelector(query.get('labelSelector'), parseLabelSelector);
  const fields = readSelector(query.get('fieldSelector'), parseFieldSelector);
  for (const { field } of fields?.requirements ?? []) {
    const problem = selectionProblem(resource, field);
    if (problem !== undefined) throw badRequest(problem);
  }
  const tests: ((stored: Stored) => boolean)[] = [];
  if (name !== '') tests.push(({ key }) => splitKey(key).name === name);
  if (labels && labels.requirements.length > 0) tests.push((stored) => labels.matches(stored.labels));
  if (fields && fields.requirements.length > 0) tests.push((stored) => matchesFields(resource, fields, stored));
  return { isEmpty: tests.length === 0, matches: (stored) => tests.every((test) => test(stored)) };
}

/** selectionProblem reports why a selector may not use a field; it returns undefined if it may. */
function selectionProblem({ selectableFields, scope, schema, kind }: ApiResource, field: string): string | undefined {
  if (field === 'metadata.name' || selectableFields.has(field)) return undefined;
  // Built-in kinds without selectable fields of their own share one rule, which ignores their scope.
  const isPlain = schema !== undefined && selectableFields.size === 0;
  if (field === 'metadata.namespace' && (scope === 'Namespaced' || isPlain)) return undefined;
  if (isPlain) {
    return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
  }
  return schema !== undefined && kind === 'Job'
    ? `field label ${JSON.stringify(field)} not supported for Job`
    : `field label not supported: ${field}`;
}

function matchesFields(resource: ApiResource, fields: Selector<FieldRequirement>, stored: Stored): boolean {
  const { name, namespace } = splitKey(stored.key);
  const values: Record<string, string> = { 'metadata.name': name, 'metadata.namespace': namespace };
  const others = fields.requirements.filter(({ field }) => !Object.hasOwn(values, field));
  // Parsing is expensive; common selectors use only names.
  if (others.length > 0) {
    const object = objectOf(stored);
    for (const { field } of others) values[field] = resource.selectableFields.get(field)?.(object) ?? '';
  }
  return fields.matches(values);
}

function readSelector<R extends LabelRequirement | FieldRequirement>(
  text: string | null,
  parse: (text: string) => Selector<R>,
): Selector<R> | undefined {
  if (text === null || text === '') return undefined;
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof InputError) throw badRequest(error.detail);
    throw error;
  }
}

/** continueToken returns the token with which the next part of a list is requested. */
export function continueToken(revision: number, key: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: `${key}\u0000` })).toString(
    'base64url',
  );
}

function readToken(token: string): { revision: number; key: string } {
  const refuse = (problem: string): never => {
    throw badRequest(`invalid continue token: continue key is not valid: ${problem}`);
  };
  let read: Record<string, unknown>;
  try {
    read = (parseJson(Buffer.from(token, 'base64url').toString()).value ?? {}) as Record<string, unknown>;
  } catch (error) {
    return refuse(error instanceof JsonSyntaxError ? error.message : 'the token cannot be decoded');
  }
  const { v, rv, start } = read;
  if (v !== 'meta.k8s.io/v1') return refuse(`server does not recognize this encoded version ${String(v ?? '')}`);
  if (typeof rv !== 'number' || typeof start !== 'string' || !start.endsWith('\u0000'))
    return refuse('the token was not issued by this server');
  return { revision: rv, key: start.slice(0, -1) };
}

/**
 * tooOldToContinue returns the error for a token whose revision is no longer available; `token` continues with the
 * current state.
 */
export function tooOldToContinue(token: string): StatusError {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';
  const error = expired(message);
  return Object.assign(error, { continueToken: token });
}
