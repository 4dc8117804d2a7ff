import type { DeviceRow, HSMPool, PodRow } from '../api/hsm-pool.ts';
import type { GuardState } from '../guard/guard-state.ts';
import type { ReportProblem } from './accept-reports.ts';
import type { DuplicateSerial } from './aggregate-devices.ts';

/** Phase is the phase of a pool. */
export type Phase = NonNullable<NonNullable<HSMPool['status']>['phase']>;

/** PoolFacts is everything that a run found out about a pool. */
export interface PoolFacts {
  readonly phase: Phase;
  /** The HSMDevice, or why there is none. */
  readonly deviceProblem: string | undefined;
  readonly expectedPods: number;
  /** Ordered by name. */
  readonly pods: readonly PodRow[];
  /** The names of live pods that have not reported within the grace period. */
  readonly silentPods: readonly string[];
  /** Ordered by id. */
  readonly devices: readonly DeviceRow[];
  readonly maxDevices: number;
  readonly problems: readonly ReportProblem[];
  readonly duplicates: readonly DuplicateSerial[];
  readonly guard: GuardState;
  /** The nodes whose clocks are known to be off; undefined if none is, and that is not known of all pods yet. */
  readonly skewedNodes: readonly string[] | undefined;
  /** Other HSMDevices that find the same devices, or undefined. */
  readonly overlap: string | undefined;
  /** What is wrong with the objects of the HSMDevice; empty if nothing is; undefined if that is not known yet. */
  readonly objectProblem: string | undefined;
}

/** usedDevices returns the devices of a pool that count: the first ones up to its limit. */
export function usedDevices({ devices, maxDevices }: Pick<PoolFacts, 'devices' | 'maxDevices'>): readonly DeviceRow[] {
  return devices.slice(0, maxDevices);
}

/** availableCount returns how many devices within the limit are available. */
export function availableCount(facts: Pick<PoolFacts, 'devices' | 'maxDevices'>): number {
  return usedDevices(facts).filter(({ available }) => available).length;
}

/** isSimulated reports whether a device is only simulated. */
export function isSimulated({ deviceInfo }: DeviceRow): boolean {
  return deviceInfo?.simulated === 'true';
}

/** someOf returns the first few names of a list, and how many more there are. */
export function someOf(names: readonly string[], max = 5): string {
  const more = names.length - max;
  return names.slice(0, max).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
