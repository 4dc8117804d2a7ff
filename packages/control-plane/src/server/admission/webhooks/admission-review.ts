import { randomUUID } from 'node:crypto';
import { apiVersionOf } from '@bowline/kubernetes';
import { canonicalJson } from '../../json/canonical-json.ts';
import type { ApiResource, Draft } from '../../registry/api-resource.ts';
import { type Status, StatusError } from '../../status/api-status.ts';
import type { AdmissionRequest } from '../admission.ts';
import { CallFailure } from './call-failure.ts';

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';
/** Versions in which a response is parsed; it must nevertheless have the version of the request. */
const REVIEW_VERSIONS: readonly string[] = [API_VERSION, 'admission.k8s.io/v1beta1'];

/** GroupVersionKind names a kind in a review. */
interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Verdict is the valid response of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  readonly status: Partial<Status> | undefined;
  /** The text of a JSON patch; undefined if there is none. */
  readonly patch: string | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** kindOf returns the kind of the object in a request: the kind of the resource, unless the subresource has its own. */
export function kindOf(resource: ApiResource, subresource: string): GroupVersionKind {
  const part = resource.subresources.get(subresource);
  const { group, version, kind } = part?.creates ?? resource;
  return { group: part?.group ?? group, version: part?.version ?? version, kind: part?.kind ?? kind };
}

/** withType returns the object with apiVersion and kind set, as a webhook receives it. */
export function withType(kind: GroupVersionKind, object: Draft): Draft {
  const { apiVersion: _, kind: __, ...rest } = object;
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, ...rest };
}

/** Review is a request to a webhook. */
export interface Review {
  readonly uid: string;
  readonly body: string;
}

/** requestOf returns the request of a review, in the version of `resource`. Match conditions receive the same. */
export function requestOf(request: AdmissionRequest, resource: ApiResource, uid: string): Record<string, unknown> {
  const { subresource, operation, user, name, namespace } = request;
  const kind = kindOf(resource, subresource);
  const { username, uid: userId, groups, extra } = user;
  return {
    uid,
    kind,
    resource: resourceOf(resource),
    subResource: subresource || undefined,
    requestKind: kindOf(request.resource, subresource),
    requestResource: resourceOf(request.resource),
    requestSubResource: subresource || undefined,
    name: name || undefined,
    namespace: namespace || undefined,
    operation,
    userInfo: {
      username: username || undefined,
      uid: userId || undefined,
      groups: groups.length > 0 ? groups : undefined,
      extra: extra && Object.keys(extra).length > 0 ? extra : undefined,
    },
    object: request.object ? withType(kind, request.object) : null,
    oldObject: request.old ? withType(kind, request.old) : null,
    dryRun: request.dryRun,
    options: optionsOf(request),
  };
}

/** optionsOf returns the options of the request; those of a patch become create or update options. */
function optionsOf({ operation, options }: AdmissionRequest): Record<string, unknown> {
  if (operation !== 'CREATE' && operation !== 'UPDATE') return options;
  return { ...options, kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions', force: undefined };
}

/** reviewOf returns the review that asks whether a request is allowed. */
export function reviewOf(request: AdmissionRequest, resource: ApiResource): Review {
  const uid = randomUUID();
  return {
    uid,
    body: canonicalJson({ kind: KIND, apiVersion: API_VERSION, request: requestOf(request, resource, uid) }),
  };
}

function resourceOf({ group, version, resource }: ApiResource): Record<string, string> {
  return { group, version, resource };
}

/**
 * readVerdict parses a response; only mutating webhooks may return a patch. It throws a CallFailure for an invalid
 * response.
 */
export function readVerdict(reviewResponse: unknown, uid: string, isMutating: boolean): Verdict {
  const { apiVersion, kind, response } = recordOf(reviewResponse);
  const [version, type] = [textOf(apiVersion), textOf(kind)];
  if (type !== KIND || !REVIEW_VERSIONS.includes(version)) throw unreadable(version, type);
  if (typeof response !== 'object' || response === null) throw invalidResponse('webhook response was absent');
  const fields = recordOf(response);
  if (fields.uid !== uid) throw invalidResponse(`expected response.uid="${uid}", got "${textOf(fields.uid)}"`);
  if (version !== API_VERSION)
    throw invalidResponse(`expected webhook response of ${API_VERSION}, Kind=${KIND}, got ${version}, Kind=${KIND}`);
  return {
    allowed: fields.allowed === true,
    status: fields.status === undefined || fields.status === null ? undefined : recordOf(fields.status),
    patch: patchOf(fields, isMutating),
    warnings: Array.isArray(fields.warnings) ? fields.warnings.map(textOf) : [],
    auditAnnotations: Object.fromEntries(
      Object.entries(recordOf(fields.auditAnnotations)).map(([key, value]) => [key, textOf(value)]),
    ),
  };
}

function invalidResponse(how: string): CallFailure {
  return new CallFailure(`received invalid webhook response: ${how}`);
}

function unreadable(version: string, kind: string): CallFailure {
  const missing = kind === '' ? "Object 'Kind' is missing" : version === '' ? "Object 'apiVersion' is missing" : '';
  const why = missing || `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(version)}`;
  return new CallFailure(`failed to call webhook: ${why}`);
}

function patchOf({ patch, patchType }: Record<string, unknown>, isMutating: boolean): string | undefined {
  const given = typeof patch === 'string' && patch !== '' ? patch : undefined;
  const hasType = patchType !== undefined && patchType !== null;
  if (!isMutating) {
    if (given !== undefined) throw invalidResponse('validating webhook may not return response.patch');
    if (hasType) throw invalidResponse('validating webhook may not return response.patchType');
    return undefined;
  }
  if (given !== undefined && !hasType)
    throw invalidResponse('webhook returned response.patch but not response.patchType');
  if (given === undefined && hasType)
    throw invalidResponse('webhook returned response.patchType but not response.patch');
  if (hasType && patchType !== 'JSONPatch') {
    const type = textOf(patchType);
    if (type === '') throw invalidResponse('webhook returned invalid response.patchType of ""');
    throw new CallFailure(`unsupported patch type "${type}"`);
  }
  return given === undefined ? undefined : Buffer.from(given, 'base64').toString('utf8');
}

/** denial returns the error for a write that a webhook denied. */
export function denial(webhook: string, status: Partial<Status> | undefined): StatusError {
  const { code, message, reason, details } = status ?? {};
  const denied = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const why = textOf(message) || textOf(reason);
  return new StatusError(
    // A success code makes no sense in a denial, and other codes are not valid.
    typeof code === 'number' && Number.isInteger(code) && code >= 400 && code < 600 ? code : 400,
    textOf(reason) || undefined,
    why === '' ? `${denied} without explanation` : `${denied}: ${why}`,
    typeof details === 'object' ? details : undefined,
  );
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
