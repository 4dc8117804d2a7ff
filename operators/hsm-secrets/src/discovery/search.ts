import { type Clock, isSameJson, type WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { DeviceSource, SearchSpec } from './device-source.ts';
import type { Findings } from './findings.ts';
import { durationOf } from './watch-device.ts';

/** SearchOptions configures a search. */
export interface SearchOptions {
  readonly source: DeviceSource;
  /** Returns what to search for; undefined while there is nothing to search for. */
  readonly spec: () => SearchSpec | undefined;
  /** Requests a search now. */
  readonly wake: WakeSignal;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with every result, and with undefined when there is nothing to search for. */
  readonly onFindings: (findings: Findings | undefined) => void;
}

const DEFAULT_SCAN_INTERVAL_MS = 30_000;
/** The kernel holds the lock of a USB device while it resets it, which can take several seconds. */
const SCAN_TIMEOUT_MS = 60_000;

/** search searches the node at the scan interval and whenever it is woken, until the signal is aborted. */
export async function search(options: SearchOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, wake } = options;
  let latest: Findings | undefined;
  let isWaiting = false;
  const publish = (findings: Findings | undefined): void => {
    if (findings) logChange(log, latest, findings);
    latest = findings;
    options.onFindings(findings);
  };
  while (!signal.aborted) {
    const spec = options.spec();
    if (!spec) {
      if (!isWaiting) log.info('reporting nothing until the HSMDevice exists and is not suspended');
      isWaiting = true;
      publish(undefined);
      await wake.wait(Number.POSITIVE_INFINITY, signal);
      continue;
    }
    isWaiting = false;
    if (!latest) publish({ status: 'discovering', devices: [], error: undefined, at: clock.now() });
    publish(await scanNow(options, spec, publish));
    await wake.wait(durationOf(spec.scanInterval, DEFAULT_SCAN_INTERVAL_MS), signal);
  }
}

/** A scan that does not end is reported as an error, but not repeated: it may hold a thread of this process. */
async function scanNow(
  { source, clock }: SearchOptions,
  spec: SearchSpec,
  publish: (findings: Findings) => void,
): Promise<Findings> {
  const failed = (error: string): Findings => ({ status: 'error', devices: [], error, at: clock.now() });
  using _timer = clock.setTimer(SCAN_TIMEOUT_MS, () => {
    const seconds = SCAN_TIMEOUT_MS / 1_000;
    publish(failed(`the search of the node has not ended after ${seconds} s; check its USB devices and its log`));
  });
  try {
    const devices = await source.scan(spec);
    return { status: 'completed', devices, error: undefined, at: clock.now() };
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error));
  }
}

function logChange(log: Log, before: Findings | undefined, { status, devices, error }: Findings): void {
  if (status === 'error' && error !== before?.error) log.error('cannot search the node', { error });
  if (status === 'completed' && (before?.status !== 'completed' || !isSameJson(before.devices, devices)))
    log.info('found devices', { devices: devices.map(({ devicePath, serialNumber }) => serialNumber ?? devicePath) });
}
