import type { Lease, ObjectKey, Resource } from '@bowline/kubernetes';
import type { RequestOptions, WriteGuard, WriteOptions } from '../client/client.ts';

/** LeaseClient is the subset of Client that leader election needs. */
export interface LeaseClient {
  find(resource: Resource<Lease>, key: ObjectKey, options?: RequestOptions): Promise<Lease | undefined>;
  create(resource: Resource<Lease>, object: Lease, options?: WriteOptions): Promise<Lease>;
  update(resource: Resource<Lease>, object: Lease, options?: WriteOptions): Promise<Lease>;
  guarded(guard: WriteGuard): LeaseClient;
}

/** DEFAULT_FIELD_MANAGER owns the Lease's fields where nothing else is given. */
export const DEFAULT_FIELD_MANAGER = 'leader-election';
