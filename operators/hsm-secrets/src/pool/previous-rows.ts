import { parseTime } from '@bowline/machinery';
import type { DeviceRow, PodRow, PoolStatus } from '../api/hsm-pool.ts';

/** PreviousRows are the rows of the stored status that the next one continues. */
export interface PreviousRows {
  readonly pods: readonly PodRow[];
  readonly devices: readonly DeviceRow[];
}

/**
 * previousRows returns the rows of a status that can be continued. A row that an older operator has written may lack
 * what the current schema requires, and the API server would refuse every status that has it.
 */
export function previousRows({ reportingPods = [], aggregatedDevices = [] }: PoolStatus = {}): PreviousRows {
  return { pods: reportingPods.filter(isPodRow), devices: aggregatedDevices.filter(isDeviceRow) };
}

function isPodRow(row: Partial<PodRow>): boolean {
  const { podName, podUID, nodeName, devicesFound, discoveryStatus, fresh, observedTime } = row;
  const members = [podName, podUID, nodeName, devicesFound, discoveryStatus, fresh, observedTime];
  return !members.includes(undefined) && isTime(observedTime);
}

function isDeviceRow(row: Partial<DeviceRow>): boolean {
  const { id, devicePath, nodeName, available, health, lostSince } = row;
  return ![id, devicePath, nodeName, available, health].includes(undefined) && (!lostSince || isTime(lostSince));
}

function isTime(text = ''): boolean {
  try {
    return Number.isFinite(parseTime(text));
  } catch {
    return false;
  }
}
