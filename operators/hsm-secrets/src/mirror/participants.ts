import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import { type UsedDevice, usedBy } from '../api/used-device.ts';
import { choosePrimary, type MirroringPolicy } from './primary.ts';

/** Participants are the devices of an HSMDevice, and which of them hold its secrets. */
export interface Participants {
  readonly policy: MirroringPolicy;
  /** All devices that have agents, whether or not they hold secrets. */
  readonly used: readonly UsedDevice[];
  /** The serial number of the primary device; undefined if there is none. */
  readonly primary: string | undefined;
  /** Whether secrets can be written: there is a primary device, and it is available. */
  readonly isWritable: boolean;
  /** The serial numbers of the devices that should have the secrets, available or not, in order. */
  readonly expected: readonly string[];
}

/**
 * participantsOf returns the devices of an HSMDevice as its pool lists them. The primary device is the one in the
 * status: only the mirror controller replaces it, because only it knows which device has all secrets.
 */
export function participantsOf(device: HSMDevice, pool: HSMPool | undefined): Participants {
  const used = usedBy(pool?.status?.aggregatedDevices ?? [], device.spec.maxDevices);
  const { policy = 'None', primaryNode, targetNodes, autoFailover = true } = pool?.spec.mirroring ?? {};
  const primarySerial = pool?.status?.mirroring?.primarySerial;
  const choice = choosePrimary({
    devices: used.map(({ serialNumber, nodeName, available }) => ({ serial: serialNumber, nodeName, available })),
    ...{ policy, primaryNode, targetNodes, autoFailover },
    incumbent: primarySerial,
  });
  const incumbent = used.find(({ serialNumber }) => serialNumber === primarySerial);
  const primary = incumbent?.serialNumber ?? choice.primary;
  return {
    policy,
    used,
    primary,
    isWritable: incumbent?.available ?? choice.isWritable,
    expected: policy === 'None' && primary !== undefined ? [primary] : choice.participants,
  };
}
