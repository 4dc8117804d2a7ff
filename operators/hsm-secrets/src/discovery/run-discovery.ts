import { type Clock, isSameJson, type Random, systemClock, systemRandom, WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { Cache } from '@bowline/runtime/cache';
import type { Client } from '@bowline/runtime/client';
import { runTogether } from '../processes/run-together.ts';
import type { Report } from '../reports/report.ts';
import type { DeviceSource } from './device-source.ts';
import type { Findings } from './findings.ts';
import type { FoundDevice } from './found-device.ts';
import { Reporter, type ReportingPod } from './reporter.ts';
import { search } from './search.ts';
import { watchDevice } from './watch-device.ts';

/** DiscoveryOptions configures a discovery. */
export interface DiscoveryOptions {
  /** Has the permissions of the pod. */
  readonly client: Pick<Client, 'list' | 'watch' | 'get' | 'patch'>;
  /** The name of the HSMDevice, in the namespace of the pod. */
  readonly device: string;
  /** The pod that carries the report. */
  readonly pod: ReportingPod;
  /** The node that is searched. */
  readonly nodeName: string;
  readonly source: DeviceSource;
  /** Defaults to the system's. */
  readonly clock?: Clock | undefined;
  /** Spreads retries. Defaults to Math.random. */
  readonly random?: Random | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Called with every report that was written. Defaults to nothing. */
  readonly onReport?: ((report: Report) => void) | undefined;
  /**
   * Called with the devices of the node when a completed search has found others than before, and with none when the
   * HSMDevice does not exist. A search that fails changes nothing. Defaults to nothing.
   */
  readonly onDevices?: ((devices: readonly FoundDevice[]) => void) | undefined;
}

/**
 * runDiscovery searches a node for the devices of an HSMDevice and reports them in the annotation of a pod, until the
 * signal is aborted. It resolves when everything has stopped. It survives every failure of the node and of the API
 * server, and rejects only because of a bug.
 */
export async function runDiscovery(options: DiscoveryOptions): Promise<void> {
  const { client, device, pod, nodeName, source, onReport, onDevices, signal } = options;
  const { clock = systemClock, random = systemRandom } = options;
  const log = options.log.with({ device, node: nodeName });
  const cache = new Cache({ client, clock, random, log });
  const wake = new WakeSignal(clock);
  const watched = watchDevice(
    cache,
    { namespace: pod.namespace, name: device },
    { onSpec: () => wake.wake(), onHeartbeat: () => reporter.heartbeatChanged() },
  );
  const heartbeatMs = (): number => watched.heartbeatMs();
  const reporter = new Reporter({ client, device, pod, nodeName, clock, random, log, heartbeatMs, onReport });
  const notify = deviceNotifier(onDevices);
  const onFindings = (findings: Findings | undefined): void => {
    reporter.report(findings);
    notify(findings);
  };
  await runTogether(signal, [
    (end) => cache.run(end),
    (end) => reporter.run(end),
    (end) => followHints(source, wake, log, end),
    async (end) => {
      const isKnown = await watched.synced(end).then(
        () => true,
        () => false,
      );
      if (isKnown) await search({ source, spec: () => watched.spec(), wake, clock, log, onFindings }, end);
    },
  ]);
}

function deviceNotifier(
  onDevices: DiscoveryOptions['onDevices'],
): (findings: Pick<Findings, 'status' | 'devices'> | undefined) => void {
  let notified: readonly FoundDevice[] | undefined;
  return (findings) => {
    if (findings && findings.status !== 'completed') return;
    const devices = findings?.devices ?? [];
    if (notified && isSameJson(notified, devices)) return;
    notified = devices;
    onDevices?.(devices);
  };
}

async function followHints(source: DeviceSource, wake: WakeSignal, log: Log, signal: AbortSignal): Promise<void> {
  try {
    for await (const _hint of source.changes(signal)) wake.wake();
  } catch (error) {
    if (!signal.aborted)
      log.warn('cannot detect changes of devices, finding them at the scan interval only', { error });
  }
}
