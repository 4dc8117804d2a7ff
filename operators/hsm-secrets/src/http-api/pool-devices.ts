import type { DeviceAgent } from '../agent-client/agent-directory.ts';
import type { UsedDevice } from '../agents/desired.ts';
import { usedBy } from '../agents/plan-agents.ts';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import type { Devices } from '../mirror/devices.ts';
import { choosePrimary } from '../mirror/primary.ts';

/** PoolDevices are the devices of an HSMDevice, and which of them hold its secrets. */
export interface PoolDevices extends Devices {
  /** Whether secrets can be written: there is a primary device, and it is available. */
  readonly isWritable: boolean;
  /** All devices that have agents, whether or not they hold secrets. */
  readonly used: readonly UsedDevice[];
  /** The agents that can be called, by serial number. */
  readonly agents: ReadonlyMap<string, DeviceAgent>;
}

/**
 * poolDevices returns the devices of an HSMDevice as its pool lists them. The primary device is the one in the status:
 * only the mirror controller replaces it, because only it knows which device has all secrets.
 */
export function poolDevices(
  device: HSMDevice,
  pool: HSMPool | undefined,
  running: readonly DeviceAgent[],
): PoolDevices {
  const used = usedBy(pool?.status?.aggregatedDevices ?? [], device.spec.maxDevices);
  const { policy = 'None', primaryNode, targetNodes, autoFailover = true } = pool?.spec.mirroring ?? {};
  const choice = choosePrimary({
    devices: used.map(({ serialNumber, nodeName, available }) => ({ serial: serialNumber, nodeName, available })),
    ...{ policy, primaryNode, targetNodes, autoFailover },
    incumbent: pool?.status?.mirroring?.primarySerial,
  });
  const incumbent = used.find(({ serialNumber }) => serialNumber === pool?.status?.mirroring?.primarySerial);
  const available = new Set(used.filter((row) => row.available).map(({ serialNumber }) => serialNumber));
  const usable = running.filter(({ serialNumber }) => available.has(serialNumber));
  return {
    policy,
    primary: incumbent?.serialNumber ?? choice.primary,
    expected: choice.participants,
    tokens: new Map(usable.map(({ serialNumber, service }) => [serialNumber, service])),
    isWritable: incumbent?.available ?? choice.isWritable,
    used,
    agents: new Map(usable.map((agent) => [agent.serialNumber, agent])),
  };
}
