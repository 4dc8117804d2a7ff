import { hash } from 'node:crypto';

/** The phases of devices are spread over this time, so that not all of them are asked at the same moment. */
const PHASE_RANGE_MS = 60_000;

/**
 * Schedule aligns the syncs of all HSMSecrets of a device, so that those that are due at the same time are answered by
 * one call. Times are those of a monotonic clock, in milliseconds.
 */
export interface Schedule {
  /** The phase of the device. */
  readonly phaseMs: number;
  readonly intervalMs: number;
}

/** scheduleOf returns the schedule of an HSMSecret. `device` is the key of its HSMDevice. */
export function scheduleOf(device: string, intervalMs: number): Schedule {
  const phaseMs = Number.parseInt(hash('sha256', device, 'hex').slice(0, 8), 16) % PHASE_RANGE_MS;
  return { phaseMs, intervalMs };
}

/** lastDue returns when a sync was last due. */
export function lastDue({ phaseMs, intervalMs }: Schedule, now: number): number {
  return Math.floor((now - phaseMs) / intervalMs) * intervalMs + phaseMs;
}

/** untilNextDue returns the time until the next sync. It is rounded up: a run must not be early by a rounding error. */
export function untilNextDue(schedule: Schedule, now: number): number {
  return Math.ceil(lastDue(schedule, now) + schedule.intervalMs - now);
}
