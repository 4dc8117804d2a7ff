import type { Lease, ObjectKey, Resource } from '@bowline/kubernetes';
import type { RequestOptions, WriteGuard, WriteOptions } from '../client/client.ts';

/** LeaseClient is the subset of Client that leader election needs. */
export interface LeaseClient {
  find(resource: Resource<Lease>, key: ObjectKey, options?: RequestOptions): Promise<Lease | undefined>;
  create(resource: Resource<Lease>, object: Lease, options?: WriteOptions): Promise<Lease>;
  update(resource: Resource<Lease>, object: Lease, options?: WriteOptions): Promise<Lease>;
  guarded(guard: WriteGuard): LeaseClient;
}

/** FIELD_MANAGER is the field manager of writes to the Lease. */
export const FIELD_MANAGER = 'bowline-leader-election';
