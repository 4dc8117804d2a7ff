import type { DeviceRow } from './hsm-pool.ts';

/** UsedDevice is a device of a pool that has an agent. */
export type UsedDevice = DeviceRow & { readonly serialNumber: string };

/** usedBy returns the devices of a pool that get an agent: those within its limit that can be told apart. */
export function usedBy(rows: readonly DeviceRow[], maxDevices: number): readonly UsedDevice[] {
  return rows
    .slice(0, maxDevices)
    .filter((row): row is UsedDevice => row.serialNumber !== undefined && row.health !== 'Claimed');
}
