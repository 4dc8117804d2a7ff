import { isObject } from '@bowline/machinery';

/** ScanKind is the part of the data folder that a scan loads. */
export type ScanKind = 'projects' | 'config';

/** SCAN_KINDS are all kinds, in the order in which they are scanned. */
export const SCAN_KINDS = ['projects', 'config'] as const satisfies readonly ScanKind[];

/** ScanStatus is the state of the scans of one kind. */
export interface ScanStatus {
  readonly isActive: boolean;
  /** In milliseconds since the epoch; 0 before the first scan. */
  readonly lastScanMs: number;
}

/** readScanStatus returns the state in a response of the gateway; undefined if it has another form. */
export function readScanStatus(value: unknown): ScanStatus | undefined {
  if (!isObject(value) || typeof value.scanActive !== 'boolean') return undefined;
  const lastScanMs = timestampOf(value.lastScanTimestamp);
  return lastScanMs === undefined ? undefined : { isActive: value.scanActive, lastScanMs };
}

/** Versions of the gateway report milliseconds or an ISO 8601 time. */
function timestampOf(value: unknown): number | undefined {
  if (value === undefined || value === null) return 0;
  const ms = typeof value === 'string' ? Date.parse(value) : value;
  return typeof ms === 'number' && Number.isFinite(ms) ? ms : undefined;
}

/** isNewer reports whether a scan ended that had not ended before. */
export function isNewer(now: ScanStatus, before: ScanStatus): boolean {
  return !now.isActive && now.lastScanMs > before.lastScanMs;
}
