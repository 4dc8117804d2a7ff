import type { Schema } from '@bowline/kubernetes/schemas';
import type { Clock, Random } from '@bowline/machinery';
import type { Admission, AdmissionRequest } from '../admission/admission.ts';
import type { AuditDetails } from '../audit/audit-trail.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { FieldTracking } from '../fields/field-tracking.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { ResourceRequest } from '../http/request-info.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceName } from '../status/api-status.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn } from '../storage/stored.ts';
import type { KubeletRequester } from './kubelet-client.ts';

/** ServerParts holds what all requests share. */
export interface ServerParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly admission: Admission;
  readonly authorizer: Authorizer;
  readonly fields: FieldTracking;
  /** strategicMerge returns the document with a strategic merge patch applied. */
  readonly strategicMerge: (document: unknown, patch: Readonly<Record<string, unknown>>, schema: Schema) => unknown;
  /** Fetches container logs from nodes. */
  readonly requestKubelet: KubeletRequester;
  readonly clock: Clock;
  readonly random: Random;
}

/** RequestContext is one request about objects while it is handled. */
export interface RequestContext extends ServerParts {
  readonly request: ApiRequest;
  readonly info: ResourceRequest;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly resource: ApiResource;
  /** Sent with the response as `Warning` headers. */
  readonly warnings: string[];
  /** What the audit event of the request will report. */
  readonly audited: AuditDetails;
}

/**
 * keyOf returns the storage key of the object that the request names. The path of a Namespace has a namespace, itself,
 * which is ignored.
 */
export function keyOf({ resource, info }: Pick<RequestContext, 'resource' | 'info'>): string {
  return keyIn(resource.scope === 'Namespaced' ? info.namespace : '', info.name);
}

/** reviewParts returns the parts of an admission request that are common to all writes. */
export function reviewParts(
  { user, warnings, request, audited }: RequestContext,
  { dryRun, raw }: { readonly dryRun: boolean; readonly raw: AdmissionRequest['options'] },
): Pick<AdmissionRequest, 'user' | 'dryRun' | 'options' | 'warnings' | 'annotate' | 'signal'> {
  const annotate = (key: string, value: string): void => {
    audited.annotations = { ...audited.annotations, [key]: value };
  };
  return { user, dryRun, options: raw, warnings, annotate, signal: request.signal };
}

/** resourceName returns the name of the request's resource for messages. */
export function resourceName({ resource: { group, resource } }: RequestContext): ResourceName {
  return { group, resource };
}
