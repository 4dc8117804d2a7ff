import type { Service } from '@bowline/kubernetes';
import type { PartialObject } from '../../shared/partial-object.ts';

type Spec = NonNullable<PartialObject<Service>['spec']>;

/**
 * keepAllocated keeps the values that the server chose when an update omits them, as clients do that know only their
 * own manifest. A value is kept as long as the type still uses it.
 */
export function keepAllocated(object: PartialObject<Service>, old: PartialObject<Service>): void {
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

/** needsNodePorts reports whether the Service is exposed on the nodes. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: Spec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false);
}

/** needsHealthCheck reports whether load balancers check which nodes have pods of the Service. */
export function needsHealthCheck({ type, externalTrafficPolicy }: Spec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

function keepAddress(spec: Spec, before: Spec): void {
  const hasNoAddress = !spec.clusterIP && (spec.clusterIPs ?? []).length === 0;
  if (hasNoAddress) {
    spec.clusterIP = before.clusterIP;
    spec.clusterIPs = before.clusterIPs && [...before.clusterIPs];
    return;
  }
  // Older clients know only clusterIP: a change of it applies to the list, unless the list was changed too.
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

/** Values that only the previous type used are dropped, unless the update sets them otherwise. */
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
  const wasExternal = before.type === 'LoadBalancer' || before.type === 'NodePort';
  const isExternal = spec.type === 'LoadBalancer' || spec.type === 'NodePort';
  if (wasExternal && !isExternal && spec.externalTrafficPolicy === before.externalTrafficPolicy)
    spec.externalTrafficPolicy = undefined;
}
