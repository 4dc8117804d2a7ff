import { Node, type Taint } from '@bowline/kubernetes';
import { keyed } from '@bowline/runtime';
import type { Controller } from '@bowline/runtime/controller';
import { sameJson } from '../../node-agent/same-json.ts';

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

const OURS: ReadonlySet<string> = new Set([NOT_READY, UNREACHABLE, UNSCHEDULABLE, ...Object.values(PRESSURES)]);

/** nodeTaints keeps new Pods away from nodes whose conditions report a problem. */
export function nodeTaints(): Controller<unknown> {
  return keyed('node-taints')
    .watches(Node, { map: ({ metadata }) => [metadata?.name ?? ''] })
    .reconcile(async ({ key, get, live }) => {
      const node = get(Node, { name: key });
      if (!node) return;
      const taints = taintsFor(node);
      if (sameJson(node.spec?.taints, taints)) return;
      const { resourceVersion } = node.metadata ?? {};
      const body = { metadata: { resourceVersion }, spec: { taints: taints.length > 0 ? taints : null } };
      await live.patch(Node, { name: key }, { type: 'merge', body });
    });
}

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
  const kept = before.filter(({ key, effect }) => !OURS.has(key) || effect !== 'NoSchedule' || wanted.has(key));
  const missing = [...wanted].filter(
    (key) => !kept.some((taint) => taint.key === key && taint.effect === 'NoSchedule'),
  );
  return [...kept, ...missing.map((key) => ({ key, effect: 'NoSchedule' as const }))];
}
