import type { SecretSyncRequest } from '../annotation/secret-sync-request.ts';
import { POD_ANNOTATIONS } from '../api/names.ts';
import { viewOfPod } from './pod-view.ts';
import type { RequestingPod } from './requesters.ts';

/**
 * someRequest returns a valid request for the Secret `db`. Its hash reflects what determines the content, here only the
 * path.
 */
export function someRequest(change: Partial<SecretSyncRequest> = {}): SecretSyncRequest {
  const path = change.path ?? '/prod/db';
  return {
    field: '',
    provider: 'mock',
    path,
    secretName: 'db',
    keys: undefined,
    optionalKeys: [],
    missingKeyPolicy: 'Fail',
    versionStage: undefined,
    versionId: undefined,
    type: 'Opaque',
    format: 'json',
    key: undefined,
    decode: 'None',
    template: undefined,
    creationPolicy: 'Create',
    deletionPolicy: 'Retain',
    refreshIntervalMs: 0,
    immutable: false,
    region: undefined,
    role: undefined,
    restart: undefined,
    hash: `hash of ${path}`,
    ...change,
  };
}

/** SomePod describes a pod in short form. */
export interface SomePod {
  /** Its Deployment. Undefined: it has no controller. */
  readonly of?: string;
  /** Seconds since the epoch. Defaults to 0. */
  readonly at?: number;
  readonly isTerminating?: boolean;
  readonly forceSync?: string;
  readonly request?: Partial<SecretSyncRequest>;
}

/** requestingPod returns a pod that requests the Secret `db`. Its name is its uid. */
export function requestingPod(
  name: string,
  { of, at = 0, isTerminating, forceSync, request }: SomePod = {},
): RequestingPod {
  const pod = viewOfPod({
    metadata: {
      namespace: 'shop',
      name,
      uid: name,
      resourceVersion: '1',
      creationTimestamp: new Date(at * 1000).toISOString(),
      ...(isTerminating ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
      annotations: {
        [POD_ANNOTATIONS.secretSync]: 'any',
        ...(forceSync === undefined ? {} : { [POD_ANNOTATIONS.forceSync]: forceSync }),
      },
      ...(of === undefined
        ? {}
        : {
            labels: { 'pod-template-hash': '7d4b' },
            ownerReferences: [
              { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${of}-7d4b`, uid: of, controller: true },
            ],
          }),
    },
  });
  if (!pod) throw new TypeError('the requesting pod has no view');
  return { pod, request: someRequest(request) };
}
