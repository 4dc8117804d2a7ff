import type { Schema } from '@bowline/kubernetes/schemas';
import type { Clock, Random } from '@bowline/machinery';
import type { Admission, AdmissionRequest } from '../admission/admission.ts';
import type { Audited } from '../audit/audit-trail.ts';
import type { UserInfo } from '../authentication/user-info.ts';
import type { FieldTracking } from '../fields/field-tracking.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { ResourceRequest } from '../http/request-info.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { ResourceName } from '../status/api-status.ts';
import type { Storage } from '../storage/storage.ts';
import { keyIn } from '../storage/stored.ts';
import type { AskKubelet } from './kubelet.ts';

/** ServerParts are what all requests share. */
export interface ServerParts {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly admission: Admission;
  readonly fields: FieldTracking;
  /** strategicMerge is the document with a strategic merge patch applied. */
  readonly strategicMerge: (document: unknown, patch: Readonly<Record<string, unknown>>, schema: Schema) => unknown;
  /** How logs of containers are fetched from their nodes. */
  readonly askKubelet: AskKubelet;
  readonly clock: Clock;
  readonly random: Random;
}

/** RequestContext is one request about objects, on its way. */
export interface RequestContext extends ServerParts {
  readonly request: ApiRequest;
  readonly info: ResourceRequest;
  readonly query: URLSearchParams;
  readonly user: UserInfo;
  readonly resource: ApiResource;
  /** Sent with the answer as `Warning` headers. */
  readonly warnings: string[];
  /** What the audit log will say of it. */
  readonly audited: Audited;
}

/** keyOf is where the object that the request names is stored. The path of a namespace says that it is in itself. */
export function keyOf({ resource, info }: Pick<RequestContext, 'resource' | 'info'>): string {
  return keyIn(resource.scope === 'Namespaced' ? info.namespace : '', info.name);
}

/** reviewParts is what admission is told of every write alike. */
export function reviewParts(
  { user, warnings, request, audited }: RequestContext,
  { dryRun, raw }: { readonly dryRun: boolean; readonly raw: AdmissionRequest['options'] },
): Pick<AdmissionRequest, 'user' | 'dryRun' | 'options' | 'warnings' | 'annotate' | 'signal'> {
  const annotate = (key: string, value: string): void => {
    audited.annotations = { ...audited.annotations, [key]: value };
  };
  return { user, dryRun, options: raw, warnings, annotate, signal: request.signal };
}

/** resourceName names the request's resource in messages. */
export function resourceName({ resource: { group, resource } }: RequestContext): ResourceName {
  return { group, resource };
}
