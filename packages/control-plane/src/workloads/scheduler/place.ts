import type { Node, Pod, Taint } from '@bowline/kubernetes';
import { compareQuantities, parseQuantity, type Quantity } from '@bowline/machinery';
import { addAmounts, requestsOf } from '../../server/objects/pod-amounts.ts';
import { isSelected, untolerated } from '../pods/node-selection.ts';
import { IN_USE, type PodVolumes } from './pod-volumes.ts';
import { type NamespaceLabels, Topology } from './topology.ts';

/** NodeLoad is a node with the Pods that count against its capacity. */
export interface NodeLoad {
  readonly node: Node;
  readonly pods: readonly Pod[];
}

/** Placement is a node for a Pod, or the reason why none fits. */
export type Placement = { readonly node: string } | { readonly problem: string };

/** PlaceOptions holds what the node of a Pod depends on besides the Pods of the nodes. */
export interface PlaceOptions {
  /** Defaults to none known. */
  readonly namespaceLabels?: NamespaceLabels | undefined;
  /** Defaults to no claims. */
  readonly volumes?: PodVolumes | undefined;
}

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/**
 * place selects the node for a Pod: of those that it fits on, the one with the fewest of its siblings, then with the
 * fewest Pods.
 */
export function place(
  pod: Pod,
  loads: readonly NodeLoad[],
  { namespaceLabels = () => undefined, volumes }: PlaceOptions = {},
): Placement {
  if (loads.length === 0) return { problem: 'no nodes available to schedule pods' };
  const available = `0/${loads.length} nodes are available`;
  // "not found" is what the real scheduler has to say about the preemption of other Pods in this case.
  if (volumes?.problem !== undefined) return { problem: `${available}: ${volumes.problem}. not found` };
  const topology = new Topology(pod, loads, namespaceLabels);
  const refusals = new Map<string, number>();
  const preemptions = new Map<string, number>();
  let best: { readonly name: string; readonly siblings: number; readonly pods: number } | undefined;
  for (const load of loads) {
    const problems = problemsOf(pod, load, topology, volumes);
    for (const problem of problems) countUp(refusals, problem);
    if (problems.length > 0) {
      countUp(preemptions, problems.includes(IN_USE) ? NO_VICTIMS : NOT_HELPFUL);
      continue;
    }
    const name = load.node.metadata?.name ?? '';
    const candidate = { name, siblings: siblingsAmong(pod, load.pods), pods: load.pods.length };
    if (!best || isBetter(candidate, best)) best = candidate;
  }
  if (best) return { node: best.name };
  const reasons = `${available}: ${counted(refusals)}.`;
  return {
    problem: `${reasons} no new claims to deallocate, preemption: ${available}: ${counted(preemptions)}.`,
  };
}

const NO_VICTIMS = 'No preemption victims found for incoming pod';
const NOT_HELPFUL = 'Preemption is not helpful for scheduling';

function countUp(counts: Map<string, number>, reason: string): void {
  counts.set(reason, (counts.get(reason) ?? 0) + 1);
}

function counted(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .toSorted()
    .join(', ');
}

/** Why a Pod does not fit on a node: the first obstacle, or every insufficient resource. */
function problemsOf(
  pod: Pod,
  { node, pods }: NodeLoad,
  topology: Topology,
  volumes: PodVolumes | undefined,
): readonly string[] {
  const { spec } = pod;
  if (node.spec?.unschedulable && untolerated(spec?.tolerations, [UNSCHEDULABLE]))
    return ['node(s) were unschedulable'];
  if (untolerated(spec?.tolerations, node.spec?.taints)) return ['node(s) had untolerated taint(s)'];
  if (!isSelected(spec, node)) return ["node(s) didn't match Pod's node affinity/selector"];
  if (portsClash(pod, pods)) return ["node(s) didn't have free ports for the requested pod ports"];
  const allocatable = node.status?.allocatable ?? {};
  const problems: string[] = [];
  if (pods.length + 1 > Number(allocatable.pods ?? 0)) problems.push('Too many pods');
  const requested = requestsOf(pod);
  const used = new Map<string, Quantity>();
  // Most Pods request nothing: then the requests of the others do not matter.
  if (requested.size > 0) for (const other of pods) addAmounts(used, requestsOf(other));
  addAmounts(used, requested);
  for (const [name, amount] of requested) {
    const total = used.get(name);
    if (amount.nanos === 0n || !total) continue;
    if (compareQuantities(total, parseQuantity(allocatable[name] ?? '0')) > 0) problems.push(`Insufficient ${name}`);
  }
  if (problems.length > 0) return problems;
  const ofVolumes = volumes?.on(node).problems ?? [];
  if (ofVolumes.length > 0) return ofVolumes;
  const neighbours = topology.problemOn(node);
  return neighbours === undefined ? [] : [neighbours];
}

function portsClash(pod: Pod, others: readonly Pod[]): boolean {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return false;
  const taken = others.flatMap(hostPorts);
  return wanted.some((port) =>
    taken.some(
      (other) =>
        port.hostPort === other.hostPort &&
        port.protocol === other.protocol &&
        (port.hostIP === other.hostIP || port.hostIP === ANY_ADDRESS || other.hostIP === ANY_ADDRESS),
    ),
  );
}

const ANY_ADDRESS = '0.0.0.0';

function hostPorts({ spec }: Pod): { hostPort: number; protocol: string; hostIP: string }[] {
  return (spec?.containers ?? []).flatMap(({ ports }) =>
    (ports ?? []).flatMap(({ hostPort, protocol = 'TCP', hostIP = ANY_ADDRESS }) =>
      hostPort === undefined || hostPort === 0 ? [] : [{ hostPort, protocol, hostIP: hostIP || ANY_ADDRESS }],
    ),
  );
}

function siblingsAmong(pod: Pod, others: readonly Pod[]): number {
  const owner = controllerUid(pod);
  return owner === undefined ? 0 : others.filter((other) => controllerUid(other) === owner).length;
}

function controllerUid({ metadata }: Pod): string | undefined {
  return metadata?.ownerReferences?.find(({ controller }) => controller)?.uid;
}

function isBetter(
  a: { readonly name: string; readonly siblings: number; readonly pods: number },
  b: { readonly name: string; readonly siblings: number; readonly pods: number },
): boolean {
  if (a.siblings !== b.siblings) return a.siblings < b.siblings;
  if (a.pods !== b.pods) return a.pods < b.pods;
  return a.name < b.name;
}
