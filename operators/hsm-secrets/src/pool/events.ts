import type { DeviceRow } from '../api/hsm-pool.ts';
import type { PoolFacts } from './pool-facts.ts';

/** PoolEvent is an event about a pool. */
export interface PoolEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** More events with the same reason are reported as a count. */
const MAX_PER_REASON = 20;

/**
 * eventsOf returns the events of a run: transitions against the devices of the previous status, and what lasts, which
 * the runtime sends when it begins.
 */
export function eventsOf(facts: PoolFacts, previous: readonly DeviceRow[]): readonly PoolEvent[] {
  return limited([...transitions(facts, previous), ...lasting(facts)]);
}

function* transitions({ devices }: PoolFacts, previous: readonly DeviceRow[]): Generator<PoolEvent> {
  const before = new Map(previous.map((row) => [row.id, row]));
  const after = new Set(devices.map(({ id }) => id));
  for (const { id, nodeName, available } of devices) {
    const was = before.get(id);
    if (!was) yield normal('DeviceDiscovered', `found the device ${id} on ${nodeName}`);
    else if (was.nodeName !== nodeName)
      yield normal('DeviceMigrated', `the device ${id} moved from ${was.nodeName} to ${nodeName}`);
    else if (available && !was.available)
      yield normal('DeviceReturned', `the device ${id} on ${nodeName} is available again`);
  }
  for (const { id, nodeName } of previous)
    if (!after.has(id)) yield warning('DeviceExpired', `removed the device ${id}, which was last on ${nodeName}`);
}

function* lasting({ devices, silentPods, problems, duplicates, maxDevices }: PoolFacts): Generator<PoolEvent> {
  for (const { id, nodeName, health, available } of devices)
    if (!available && health !== 'Claimed')
      yield warning('DeviceLost', `the device ${id} on ${nodeName} is not available (${health})`);
  for (const podName of silentPods)
    yield warning('ReportStale', `the pod ${podName} exists, but has not reported within the grace period`);
  for (const { podName, message } of problems)
    yield warning('InvalidReport', `the report of the pod ${podName} does not count: ${message}`);
  for (const { serialNumber, nodeName, otherNodes } of duplicates)
    yield warning(
      'DuplicateSerial',
      `${otherNodes.join(', ')} also report the device ${serialNumber}, which stays on ${nodeName}`,
    );
  if (devices.length > maxDevices)
    yield warning('DeviceLimitExceeded', `more than ${maxDevices} devices were found; increase spec.maxDevices`);
}

function limited(events: readonly PoolEvent[]): readonly PoolEvent[] {
  const counts = new Map<string, number>();
  const kept: PoolEvent[] = [];
  for (const event of events) {
    const count = (counts.get(event.reason) ?? 0) + 1;
    counts.set(event.reason, count);
    if (count <= MAX_PER_REASON) kept.push(event);
  }
  for (const [reason, count] of counts) {
    const type = events.find((event) => event.reason === reason)?.type ?? 'Warning';
    if (count > MAX_PER_REASON)
      kept.push({ type, reason, message: `the same applies to ${count - MAX_PER_REASON} more` });
  }
  return kept;
}

function normal(reason: string, message: string): PoolEvent {
  return { type: 'Normal', reason, message };
}

function warning(reason: string, message: string): PoolEvent {
  return { type: 'Warning', reason, message };
}
