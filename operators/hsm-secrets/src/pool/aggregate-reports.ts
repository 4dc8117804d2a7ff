import { DaemonSet, keyString, Pod } from '@bowline/kubernetes';
import { DISCOVERY_SELECTOR } from '../api/names.ts';
import { type AcceptedReports, acceptReports } from './accept-reports.ts';
import { type Aggregation, aggregate } from './aggregate.ts';
import { deviceKey, type PoolContext } from './controller.ts';
import { type DiscoveryPod, discoveryPod } from './discovery-pod.ts';
import { deviceOf, graceOf } from './pool-device.ts';
import { type PreviousRows, previousRows } from './previous-rows.ts';
import { claimedSerials } from './shared-devices.ts';

/** AggregatedReports are the reports that count, and what follows from them. */
export interface AggregatedReports {
  readonly accepted: AcceptedReports;
  readonly aggregation: Aggregation;
}

/**
 * aggregateReports aggregates the reports of the cached pods. Before a pod or a device is lost because of that, the pods
 * are read from the API server: a cache may be behind.
 */
export async function aggregateReports(context: PoolContext): Promise<AggregatedReports> {
  const { key, list, object, deps } = context;
  const cached = list(Pod, { by: { device: deviceKey(key.namespace, object.spec.hsmDeviceRef) } });
  const accepted = accept(context, cached);
  const aggregation = aggregateFrom(context, accepted);
  if (!losesSomething(previousRows(object.status), aggregation)) {
    deps.confirmations.forgetOutage(keyString(key));
    return { accepted, aggregation };
  }
  const live = accept(context, await readPods(context));
  return { accepted: live, aggregation: aggregateFrom(context, live) };
}

async function readPods({ live, key, object, deps }: PoolContext): Promise<readonly DiscoveryPod[]> {
  const pool = keyString(key);
  try {
    const { items } = await live.list(Pod, { namespace: key.namespace, labelSelector: DISCOVERY_SELECTOR });
    deps.confirmations.endOutage(pool, previousRows(object.status).pods, graceOf(object));
    return items.map(discoveryPod);
  } catch (error) {
    deps.confirmations.beginOutage(pool);
    throw error;
  }
}

function accept({ object, key, list, deps }: PoolContext, pods: readonly DiscoveryPod[]): AcceptedReports {
  const device = object.spec.hsmDeviceRef;
  const [daemonSet] = list(DaemonSet, { by: { device: deviceKey(key.namespace, device) } });
  return acceptReports(pods, {
    device,
    daemonSetUID: daemonSet?.uid,
    requireDaemonSetOwner: deps.config.requireDaemonSetOwner,
  });
}

function aggregateFrom(context: PoolContext, { livePods }: AcceptedReports): Aggregation {
  const { object, deps, clock } = context;
  const { confirmations } = deps;
  const gracePeriodMs = graceOf(object);
  const previous = previousRows(object.status);
  const rows = new Map(previous.pods.map((row) => [row.podUID, row]));
  for (const { uid: podUID, report, reportVersion } of livePods) {
    const row = rows.get(podUID);
    if (report && reportVersion !== undefined) {
      const observed = { podUID, version: reportVersion, lastReportTime: report.lastReportTime };
      confirmations.observe(observed, row, gracePeriodMs);
    } else if (row) confirmations.observeRefused(row, gracePeriodMs);
  }
  const live = new Set(livePods.map(({ uid }) => uid));
  for (const row of previous.pods) if (!live.has(row.podUID)) confirmations.observeGone(row);
  const serials = livePods.flatMap(
    ({ report }) => report?.discoveredDevices.map(({ serialNumber }) => serialNumber) ?? [],
  );
  const known = previous.devices.map(({ serialNumber }) => serialNumber);
  return aggregate({
    now: clock.now(),
    gracePeriodMs,
    livePods,
    confirmedAt: (uid) => confirmations.confirmedAt(uid),
    observedAt: (uid) => confirmations.observedAt(uid),
    previous,
    claimedSerials: claimedSerials(
      context,
      deviceOf(context),
      new Set([...serials, ...known].filter((each) => each !== undefined)),
    ),
  });
}

/** losesSomething reports whether a fresh pod, any pod, or a device gets lost compared to the previous status. */
function losesSomething(previous: PreviousRows, next: Aggregation): boolean {
  const pods = new Map(next.pods.map((row) => [row.podUID, row]));
  const devices = new Map(next.devices.map((row) => [row.id, row]));
  return (
    previous.pods.some(({ podUID, fresh }) => !pods.has(podUID) || (fresh && !pods.get(podUID)?.fresh)) ||
    previous.devices.some(({ id, available }) => !devices.has(id) || (available && !devices.get(id)?.available))
  );
}

/** Pods that are neither live nor listed are not observed any more; silent ones wake the pool when they report again. */
export function forgetRemoved({ object, key, deps }: PoolContext, aggregated: AggregatedReports): void {
  const { pods } = aggregated.aggregation;
  const { livePods } = aggregated.accepted;
  const known = new Set([...pods.map(({ podUID }) => podUID), ...livePods.map(({ uid }) => uid)]);
  for (const { podUID } of object.status?.reportingPods ?? [])
    if (!known.has(podUID)) deps.confirmations.forget(podUID);
  for (const { podUID, fresh } of pods) if (!fresh) deps.confirmations.wakeWithNextReport(podUID, keyString(key));
}
