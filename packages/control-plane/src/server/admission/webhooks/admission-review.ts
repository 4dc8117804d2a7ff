import { randomUUID } from 'node:crypto';
import { canonicalJson } from '@bowline/machinery';
import type { ApiResource } from '../../registry/api-resource.ts';
import { type Status, StatusError } from '../../status/api-status.ts';
import type { AdmissionRequest } from '../admission.ts';
import { requestOf } from '../matching/described-request.ts';
import { CallFailure } from './call-failure.ts';

const API_VERSION = 'admission.k8s.io/v1';
const KIND = 'AdmissionReview';
/** Versions in which a response is parsed; it must nevertheless have the version of the request. */
const REVIEW_VERSIONS: readonly string[] = [API_VERSION, 'admission.k8s.io/v1beta1'];

/** Verdict is the valid response of a webhook. */
export interface Verdict {
  readonly allowed: boolean;
  readonly status: Partial<Status> | undefined;
  /** The text of a JSON patch; undefined if there is none. */
  readonly patch: string | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** Review is a request to a webhook. */
export interface Review {
  readonly uid: string;
  readonly body: string;
}

/** reviewOf returns the review that asks whether a request is allowed. */
export function reviewOf(request: AdmissionRequest, resource: ApiResource): Review {
  const uid = randomUUID();
  return {
    uid,
    body: canonicalJson({ kind: KIND, apiVersion: API_VERSION, request: requestOf(request, resource, uid) }),
  };
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
