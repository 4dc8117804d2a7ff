import type { Node, Taint } from '@bowline/kubernetes';

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** Conditions that keep new Pods away while their status is True. */
const PRESSURES: Readonly<Record<string, string>> = {
  MemoryPressure: 'node.kubernetes.io/memory-pressure',
  DiskPressure: 'node.kubernetes.io/disk-pressure',
  PIDPressure: 'node.kubernetes.io/pid-pressure',
  NetworkUnavailable: 'node.kubernetes.io/network-unavailable',
};

const MANAGED: ReadonlySet<string> = new Set([NOT_READY, UNREACHABLE, UNSCHEDULABLE, ...Object.values(PRESSURES)]);

/**
 * taintsFor returns the taints that a node should have according to its conditions; taints of other owners are kept.
 */
export function taintsFor({ spec, status }: Node): readonly Taint[] {
  const wanted = new Set<string>();
  for (const { type, status: is } of status?.conditions ?? []) {
    const pressure = PRESSURES[type];
    if (type === 'Ready' && is === 'False') wanted.add(NOT_READY);
    else if (type === 'Ready' && is === 'Unknown') wanted.add(UNREACHABLE);
    else if (pressure !== undefined && is === 'True') wanted.add(pressure);
  }
  // A node that has not reported yet keeps the taint that it was admitted with.
  if (!status?.conditions?.some(({ type }) => type === 'Ready')) wanted.add(NOT_READY);
  if (spec?.unschedulable) wanted.add(UNSCHEDULABLE);
  const before = spec?.taints ?? [];
  const kept = before.filter(({ key, effect }) => !MANAGED.has(key) || effect !== 'NoSchedule' || wanted.has(key));
  const missing = [...wanted].filter(
    (key) => !kept.some((taint) => taint.key === key && taint.effect === 'NoSchedule'),
  );
  return [...kept, ...missing.map((key) => ({ key, effect: 'NoSchedule' as const }))];
}
