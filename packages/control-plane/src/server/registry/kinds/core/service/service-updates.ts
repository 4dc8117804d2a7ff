import type { Service } from '@bowline/kubernetes';
import type { Loose } from '../../shared/loose.ts';

type Spec = NonNullable<Loose<Service>['spec']>;

/**
 * keepAllocated is what an update means that leaves out what the server chose, as clients do that know only their own
 * manifest: it stays, as long as the type still has a use for it.
 */
export function keepAllocated(object: Loose<Service>, old: Loose<Service>): void {
  object.spec ??= {};
  const { spec } = object;
  const before = old.spec ?? {};
  if (needsAddress(spec) && needsAddress(before)) keepAddress(spec, before);
  if (needsNodePorts(spec) && needsNodePorts(before)) keepNodePorts(spec, before);
  if (needsHealthCheck(spec) && needsHealthCheck(before)) spec.healthCheckNodePort ??= before.healthCheckNodePort;
  dropUnused(spec, before);
  if (spec.type !== 'LoadBalancer' && object.status) object.status.loadBalancer = {};
}

function needsAddress({ type }: Spec): boolean {
  return type !== 'ExternalName';
}

/** needsNodePorts says that the nodes take part in serving it. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: Spec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}

/** needsHealthCheck says that load balancers ask nodes whether they have pods of it. */
export function needsHealthCheck({ type, externalTrafficPolicy }: Spec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

function keepAddress(spec: Spec, before: Spec): void {
  const saysNone = !spec.clusterIP && (spec.clusterIPs ?? []).length === 0;
  if (saysNone) {
    spec.clusterIP = before.clusterIP;
    spec.clusterIPs = before.clusterIPs && [...before.clusterIPs];
    return;
  }
  // Older clients know one address: what they say of it counts for the list, unless that was changed too.
  const isSame = JSON.stringify(spec.clusterIPs ?? []) === JSON.stringify(before.clusterIPs ?? []);
  if (spec.clusterIP !== before.clusterIP && isSame) spec.clusterIPs = spec.clusterIP ? [spec.clusterIP] : undefined;
  else if (!spec.clusterIP && !isSame) spec.clusterIP = undefined;
  else spec.clusterIPs ??= spec.clusterIP ? [spec.clusterIP] : undefined;
}

function keepNodePorts(spec: Spec, before: Spec): void {
  const used = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort).filter(Boolean));
  const known = new Map((before.ports ?? []).map((port) => [idOf(port), port.nodePort]));
  for (const port of spec.ports ?? []) {
    const kept = known.get(idOf(port));
    if (port.nodePort === undefined && kept !== undefined && !used.has(kept)) port.nodePort = kept;
  }
}

function idOf({ protocol = 'TCP', port = 0 }: NonNullable<Spec['ports']>[number]): string {
  return `${protocol}/${port}`;
}

/** What only the former type had a use for goes with it, unless the writer says otherwise. */
function dropUnused(spec: Spec, before: Spec): void {
  if (needsAddress(before) && !needsAddress(spec) && spec.clusterIP === before.clusterIP) {
    spec.clusterIP = undefined;
    spec.clusterIPs = undefined;
    spec.ipFamilies = undefined;
    spec.ipFamilyPolicy = undefined;
    spec.internalTrafficPolicy = undefined;
  }
  if (needsNodePorts(before) && !needsNodePorts(spec)) {
    const known = new Set((before.ports ?? []).map(({ nodePort }) => nodePort));
    for (const port of spec.ports ?? []) if (known.has(port.nodePort)) port.nodePort = undefined;
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec) && spec.healthCheckNodePort === before.healthCheckNodePort)
    spec.healthCheckNodePort = undefined;
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts = undefined;
    if (spec.loadBalancerClass === before.loadBalancerClass) spec.loadBalancerClass = undefined;
  }
  const wasOutside = before.type === 'LoadBalancer' || before.type === 'NodePort';
  const isOutside = spec.type === 'LoadBalancer' || spec.type === 'NodePort';
  if (wasOutside && !isOutside && spec.externalTrafficPolicy === before.externalTrafficPolicy)
    spec.externalTrafficPolicy = undefined;
}
