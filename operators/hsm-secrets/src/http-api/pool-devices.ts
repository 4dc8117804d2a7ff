import type { DeviceAgent } from '../agent-client/agent-directory.ts';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import type { Devices } from '../mirror/devices.ts';
import { type Participants, participantsOf } from '../mirror/participants.ts';

/** PoolDevices are the devices of an HSMDevice with their agents. */
export interface PoolDevices extends Devices, Participants {
  /** The agents that can be called, by serial number. */
  readonly agents: ReadonlyMap<string, DeviceAgent>;
}

/** poolDevices returns the devices of an HSMDevice as its pool lists them. */
export function poolDevices(
  device: HSMDevice,
  pool: HSMPool | undefined,
  running: readonly DeviceAgent[],
): PoolDevices {
  const participants = participantsOf(device, pool);
  const available = new Set(participants.used.filter((row) => row.available).map(({ serialNumber }) => serialNumber));
  const usable = running.filter(({ serialNumber }) => available.has(serialNumber));
  return {
    ...participants,
    tokens: new Map(usable.map(({ serialNumber, service }) => [serialNumber, service])),
    agents: new Map(usable.map((agent) => [agent.serialNumber, agent])),
  };
}
