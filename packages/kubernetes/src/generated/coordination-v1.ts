import { type Resource, resource } from '../resource.ts';
import type { ObjectMeta } from './meta-v1.ts';

export interface LeaseSpec {
  readonly acquireTime?: string;
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly leaseTransitions?: number;
  readonly preferredHolder?: string;
  readonly renewTime?: string;
  readonly strategy?: string;
}
export interface Lease {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
  readonly spec?: LeaseSpec;
}
export const Lease: Resource<Lease, 'Lease.v1.coordination.k8s.io'> = resource({
  group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', scope: 'Namespaced', id: 'Lease.v1.coordination.k8s.io',
});
