import { parseDuration, parseTime } from '@bowline/machinery';
import { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import type { PoolContext } from './controller.ts';

type Reads = Pick<PoolContext, 'object' | 'key' | 'get'>;

/** deviceOf returns the HSMDevice of a pool. */
export function deviceOf({ object, key, get }: Reads): HSMDevice | undefined {
  return get(HSMDevice, { namespace: key.namespace, name: object.spec.hsmDeviceRef });
}

/** deviceProblemOf returns why a pool has no HSMDevice; undefined if it has one. */
export function deviceProblemOf(context: Reads): string | undefined {
  const { spec, metadata } = context.object;
  const device = deviceOf(context);
  if (!device) return `the HSMDevice ${spec.hsmDeviceRef} does not exist; create it, or delete this pool`;
  const owner = metadata.ownerReferences?.find(({ kind }) => kind === HSMDevice.kind);
  if (owner === undefined || owner.uid === device.metadata?.uid) return undefined;
  return `the owner reference names another HSMDevice than ${spec.hsmDeviceRef}; delete this pool, so that it is recreated`;
}

/** graceOf returns the grace period of a pool in milliseconds. */
export function graceOf({ spec }: HSMPool): number {
  return parseDuration(spec.gracePeriod);
}

/** createdAt returns when a pool was created, in milliseconds since the epoch. */
export function createdAt({ metadata }: HSMPool): number {
  return metadata?.creationTimestamp === undefined ? 0 : parseTime(metadata.creationTimestamp);
}
