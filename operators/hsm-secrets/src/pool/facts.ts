import { DaemonSet } from '@bowline/kubernetes';
import type { DeviceRow, HSMPool } from '../api/hsm-pool.ts';
import { guardState } from '../guard/guard-state.ts';
import type { AggregatedReports } from './aggregate-reports.ts';
import { deviceKey, type PoolContext } from './controller.ts';
import { phaseOf } from './phase.ts';
import { createdAt, deviceOf, deviceProblemOf, graceOf } from './pool-device.ts';
import type { PoolFacts } from './pool-facts.ts';
import { discoveryOverlap } from './shared-devices.ts';

/** factsOf collects what a run found out about a pool. */
export function factsOf(context: PoolContext, { accepted, aggregation }: AggregatedReports): PoolFacts {
  const { object, key, list, deps, clock } = context;
  const { problems, otherPods, livePods } = accepted;
  const { pods, duplicates } = aggregation;
  const devices = withRoles(aggregation.devices, object);
  const device = deviceOf(context);
  const deviceProblem = deviceProblemOf(context);
  const [daemonSet] = list(DaemonSet, { by: { device: deviceKey(key.namespace, object.spec.hsmDeviceRef) } });
  const expectedPods = (daemonSet?.desiredPods ?? 0) + (deps.config.requireDaemonSetOwner ? 0 : otherPods);
  const live = new Set(livePods.map(({ uid }) => uid));
  return {
    phase: phaseOf({
      hasDevice: deviceProblem === undefined,
      pods,
      expectedPods,
      poolAgeMs: clock.now() - createdAt(object),
      gracePeriodMs: graceOf(object),
    }),
    deviceProblem,
    expectedPods,
    pods,
    silentPods: pods.filter(({ fresh, podUID }) => !fresh && live.has(podUID)).map(({ podName }) => podName),
    devices,
    maxDevices: device?.spec.maxDevices ?? devices.length,
    problems,
    duplicates,
    guard: guardState(
      deps.guards,
      [...list('reports-policy'), ...list('accounts-policy')],
      [...list('reports-binding'), ...list('accounts-binding')],
    ),
    skewedNodes: skewedNodes(context, pods),
    overlap: discoveryOverlap(context, device),
    objectProblem: deps.deviceProblems.get(device?.metadata?.uid ?? ''),
  };
}

function skewedNodes({ deps }: PoolContext, pods: PoolFacts['pods']): readonly string[] | undefined {
  const skews = pods
    .filter(({ fresh }) => fresh)
    .map(({ podUID, nodeName }) => ({ nodeName, isSkewed: deps.confirmations.hasClockSkew(podUID) }));
  const skewed = skews.filter(({ isSkewed }) => isSkewed).map(({ nodeName }) => nodeName);
  const areKnown = skews.every(({ isSkewed }) => isSkewed !== undefined);
  return areKnown || skewed.length > 0 ? skewed : undefined;
}

/** withRoles adds the part that each device plays in mirroring, which the mirror controller decides. */
function withRoles(devices: readonly DeviceRow[], { spec, status }: HSMPool): readonly DeviceRow[] {
  const primary = status?.mirroring?.primarySerial;
  const policy = spec.mirroring?.policy ?? 'None';
  return devices.map((row) => {
    if (policy === 'None' || row.serialNumber === undefined || primary === undefined)
      return { ...row, role: undefined, mirroredFrom: undefined };
    if (row.serialNumber === primary) return { ...row, role: 'Primary', mirroredFrom: undefined };
    return { ...row, role: policy === 'ReadOnly' ? 'ReadOnly' : 'Standby', mirroredFrom: primary };
  });
}
