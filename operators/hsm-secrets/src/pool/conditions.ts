import type { ConditionUpdate } from '@bowline/runtime/writing';
import { availableCount, isSimulated, type PoolFacts, someOf, usedDevices } from './pool-facts.ts';

const MAX_NAMED = 5;

/** conditionsOf returns the conditions of a pool, without those of its agents. */
export function conditionsOf(facts: PoolFacts): readonly ConditionUpdate[] {
  const message = summaryOf(facts);
  return [
    condition('Ready', facts.phase === 'Ready', facts.phase, message),
    condition('DeviceAggregation', facts.phase !== 'Error', facts.phase, message),
    reportsFresh(facts),
    reportsValid(facts),
    condition('ReportsGuarded', facts.guard.isGuarded, facts.guard.reason, facts.guard.message),
    devicesAvailable(facts),
    deviceLimit(facts),
    duplicateSerial(facts),
    whileTrue('DiscoveryOverlap', 'DiscoveryOverlap', facts.overlap),
    whileTrue('Simulated', 'Simulated', simulated(facts)),
    // What is not known yet stays as it was reported.
    ...(facts.skewedNodes === undefined ? [] : [clockSkew(facts.skewedNodes)]),
    ...(facts.objectProblem === undefined
      ? []
      : [whileTrue('ForeignObject', 'ForeignObject', facts.objectProblem || undefined)]),
  ];
}

/** summaryOf describes a pool in one line. */
export function summaryOf(facts: PoolFacts): string {
  const { deviceProblem, pods, expectedPods, devices } = facts;
  if (deviceProblem !== undefined) return deviceProblem;
  const failed = pods.filter(({ fresh, discoveryStatus }) => fresh && discoveryStatus === 'error');
  const fresh = pods.filter((pod) => pod.fresh).length;
  const parts = [
    `${availableCount(facts)} of ${devices.length} devices available`,
    ...(devices.some(isSimulated) ? ['simulated'] : []),
    ...(fresh < expectedPods || expectedPods === 0 ? [`${fresh} of ${expectedPods} expected pods report`] : []),
    ...(failed.length > 0 ? [`${failed[0]?.podName}: ${failed[0]?.error ?? 'the search failed'}`] : []),
  ];
  return parts.join(', ');
}

function reportsFresh({ pods }: PoolFacts): ConditionUpdate {
  const stale = pods.filter(({ fresh }) => !fresh).map(({ podName }) => podName);
  if (pods.length === 0) return condition('ReportsFresh', 'Unknown', 'NoReports', 'no pod has reported yet');
  if (stale.length === 0) return condition('ReportsFresh', true, 'AllFresh', 'all pods report in time');
  const reason = stale.length === pods.length ? 'AllStale' : 'SomeStale';
  return condition('ReportsFresh', false, reason, `no report within the grace period: ${someOf(stale, MAX_NAMED)}`);
}

function reportsValid({ problems }: PoolFacts): ConditionUpdate {
  if (problems.length === 0) return condition('ReportsValid', true, 'Valid', 'all reports are valid');
  const named = problems.map(({ podName, message }) => `${podName}: ${message}`);
  return condition('ReportsValid', false, 'InvalidReport', someOf(named, MAX_NAMED));
}

function devicesAvailable(facts: PoolFacts): ConditionUpdate {
  const used = usedDevices(facts);
  const available = availableCount(facts);
  if (used.length === 0) return condition('DevicesAvailable', false, 'NoDevices', 'no device was found');
  if (available === used.length)
    return condition('DevicesAvailable', true, 'Available', `all ${available} devices are available`);
  const missing = used.filter((device) => !device.available).map(({ id, health }) => `${id} (${health})`);
  const message = `${available} of ${used.length} devices are available; not available: ${someOf(missing, MAX_NAMED)}`;
  return condition('DevicesAvailable', false, available === 0 ? 'Unavailable' : 'DeviceLost', message);
}

function deviceLimit({ devices, maxDevices }: PoolFacts): ConditionUpdate {
  if (devices.length <= maxDevices)
    return condition('DeviceLimit', true, 'WithinLimit', `at most ${maxDevices} devices are used`);
  const message = `found ${devices.length} devices, but only the first ${maxDevices} are used; increase spec.maxDevices of the HSMDevice`;
  return condition('DeviceLimit', false, 'LimitExceeded', message);
}

function duplicateSerial({ duplicates }: PoolFacts): ConditionUpdate {
  const named = duplicates.map(
    ({ serialNumber, nodeName, otherNodes }) =>
      `${serialNumber} stays on ${nodeName}, but is also reported by ${someOf(otherNodes)}`,
  );
  return whileTrue('DuplicateSerial', 'DuplicateSerial', named.length > 0 ? someOf(named, MAX_NAMED) : undefined);
}

function clockSkew(nodes: readonly string[]): ConditionUpdate {
  const message = `the clock differs from the manager's by more than 30 s on ${someOf(nodes, MAX_NAMED)}; this does not affect the pool, but correct it`;
  return whileTrue('ClockSkew', 'ClockSkew', nodes.length > 0 ? message : undefined);
}

function simulated({ devices }: PoolFacts): string | undefined {
  return devices.some(isSimulated) ? 'the devices are simulated: they hold no real keys' : undefined;
}

/** whileTrue returns a condition that exists only while there is something to report. */
function whileTrue(type: string, reason: string, message: string | undefined): ConditionUpdate {
  return message === undefined
    ? { type, status: undefined, reason, message: '' }
    : condition(type, true, reason, message);
}

function condition(
  type: string,
  status: NonNullable<ConditionUpdate['status']>,
  reason: string,
  message: string,
): ConditionUpdate {
  return { type, status, reason, message };
}
