// Generated from openapi/coordination-v1.json (Kubernetes v1.35.8) by `npm run generate`: do not edit.
import { describeResource, type Resource } from '../describe-resource.ts';
import type { ListMeta, ObjectMeta } from './meta-v1.ts';

export interface Lease {
  readonly apiVersion?: string | undefined;
  readonly kind?: string | undefined;
  readonly metadata?: ObjectMeta | undefined;
  readonly spec?: LeaseSpec | undefined;
}

export const Lease: Resource<Lease, 'Lease.v1.coordination.k8s.io'> = /* @__PURE__ */ describeResource({ group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', scope: 'Namespaced' });

export interface LeaseList {
  readonly apiVersion?: string | undefined;
  readonly items: readonly Lease[];
  readonly kind?: string | undefined;
  readonly metadata?: ListMeta | undefined;
}

export interface LeaseSpec {
  readonly acquireTime?: string | undefined;
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number | undefined;
  readonly leaseTransitions?: number | undefined;
  readonly preferredHolder?: string | undefined;
  readonly renewTime?: string | undefined;
  readonly strategy?: string | undefined;
}
