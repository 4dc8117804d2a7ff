import type { Service } from '@bowline/kubernetes';
import { type KindRules, statusStrategy } from '../../../built-in-strategy.ts';
import { as } from '../../shared/column.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { dropEmpty, dropFalse, dropZero } from '../../shared/zero-values.ts';
import { allocateService } from './service-allocation.ts';
import { serviceColumns } from './service-columns.ts';
import { serviceProblems, serviceStatusProblems } from './service-problems.ts';
import { keepAllocated } from './service-updates.ts';

/** The default session affinity timeout in seconds. */
const AFFINITY_SECONDS = 10_800;

/** serviceRules allocates an address for a Service and, if its type requires it, a port on every node. */
export const serviceRules: KindRules = {
  countsGeneration: false,
  applyDefaults(object) {
    const service = as<Service>(object);
    service.spec ??= {};
    defaultSpec(service.spec);
    service.status ??= {};
    service.status.loadBalancer ??= {};
    for (const ingress of service.status.loadBalancer.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
  },
  prepareForUpdate(object, old) {
    keepAllocated(as<Service>(object), as<Service>(old));
  },
  allocate: allocateService,
  validate: (object, old) => serviceProblems(as<Service>(object), old && as<Service>(old)),
  warningsOf: (object) => warnings(as<Service>(object)),
  returnsDeletedObject: true,
  subresources: {
    status: (whole) => {
      const strategy = statusStrategy({ ...whole, validate: (object) => serviceStatusProblems(as<Service>(object)) });
      return { strategy: { ...strategy, allocate: undefined, warningsOf: undefined } };
    },
  },
  columns: serviceColumns,
};

function defaultSpec(spec: NonNullable<PartialObject<Service>['spec']>): void {
  dropEmpty(spec, 'externalName', 'loadBalancerIP', 'clusterIP', 'externalTrafficPolicy', 'type', 'sessionAffinity');
  dropFalse(spec, 'publishNotReadyAddresses');
  dropZero(spec, 'healthCheckNodePort');
  spec.type ??= 'ClusterIP';
  spec.sessionAffinity ??= 'None';
  if (spec.sessionAffinity === 'None') spec.sessionAffinityConfig = undefined;
  if (spec.sessionAffinity === 'ClientIP') {
    spec.sessionAffinityConfig ??= {};
    spec.sessionAffinityConfig.clientIP ??= {};
    spec.sessionAffinityConfig.clientIP.timeoutSeconds ??= AFFINITY_SECONDS;
  }
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP';
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port ?? 0;
    dropEmpty(port, 'name');
    dropZero(port, 'nodePort');
  }
  const isExternal = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  if (isExternal || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0))
    spec.externalTrafficPolicy ??= 'Cluster';
  if (isExternal || spec.type === 'ClusterIP') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type === 'LoadBalancer') spec.allocateLoadBalancerNodePorts ??= true;
}

function warnings({ spec = {} }: PartialObject<Service>): string[] {
  const lines: string[] = [];
  if (spec.clusterIP === 'None' && spec.loadBalancerIP)
    lines.push('spec.loadBalancerIP is ignored for headless services');
  if (spec.clusterIP === 'None' && (spec.externalIPs ?? []).length > 0)
    lines.push('spec.externalIPs is ignored when spec.clusterIP is "None"');
  if (spec.clusterIP === 'None' && spec.sessionAffinity === 'ClientIP')
    lines.push('spec.SessionAffinity is ignored for headless services');
  if (spec.externalName && spec.type !== 'ExternalName')
    lines.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  if (spec.trafficDistribution === 'PreferClose')
    lines.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return lines;
}
