import type { DeviceAgent } from '../agent-client/agent-directory.ts';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMPool } from '../api/hsm-pool.ts';
import { participantsOf } from '../mirror/participants.ts';

/** DeviceSource is a physical device that should have the secrets of an HSMDevice. */
export interface DeviceSource {
  readonly serialNumber: string;
  /** The agent to read from; undefined if there is none, or the device is not available. */
  readonly agent: DeviceAgent | undefined;
}

/** DeviceSources are the devices that are read, the preferred one first. */
export interface DeviceSources {
  /** The serial number of the primary device. */
  readonly primary: string | undefined;
  readonly sources: readonly DeviceSource[];
}

/** sourcesOf returns the devices from which the secrets of an HSMDevice are read. */
export function sourcesOf(device: HSMDevice, pool: HSMPool | undefined, agents: readonly DeviceAgent[]): DeviceSources {
  const { used, primary, expected } = participantsOf(device, pool);
  const available = new Set(used.filter((row) => row.available).map(({ serialNumber }) => serialNumber));
  const sources = expected.map((serialNumber) => ({
    serialNumber,
    agent: available.has(serialNumber) ? agents.find((agent) => agent.serialNumber === serialNumber) : undefined,
  }));
  const isPrimary = ({ serialNumber }: DeviceSource): number => Number(serialNumber === primary);
  return { primary, sources: sources.sort((a, b) => isPrimary(b) - isPrimary(a)) };
}
