import type { Service } from '@bowline/kubernetes';
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  type FieldProblem,
  labelKeyProblems,
  labelValueProblems,
} from '@bowline/machinery';
import { addressProblems, cidrProblems, endpointAddressProblems } from '../../shared/address-problems.ts';
import type { PartialObject } from '../../shared/partial-object.ts';
import { portReferenceProblems } from '../../shared/port-names.ts';
import {
  duplicate,
  forbidden,
  invalid,
  invalids,
  notSupported,
  oneOf,
  outside,
  required,
} from '../../shared/problems.ts';
import { serviceAddressProblems } from './service-address-problems.ts';

type Spec = NonNullable<PartialObject<Service>['spec']>;

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const POLICIES = ['Cluster', 'Local'];
const MAX_AFFINITY_SECONDS = 86_400;
const ONLY_BALANCED = "may only be used when `type` is 'LoadBalancer'";

/** serviceProblems validates a Service. */
export function serviceProblems(
  { spec = {} }: PartialObject<Service>,
  old: PartialObject<Service> | undefined,
): FieldProblem[] {
  return [
    ...(old ? changeProblems(spec, old.spec ?? {}) : []),
    ...portsNeeded(spec),
    ...portProblems(spec),
    ...selectorProblems('spec.selector', spec.selector),
    ...oneOf('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None']),
    ...affinityProblems(spec),
    ...serviceAddressProblems(spec),
    ...(spec.externalIPs ?? []).flatMap((address, index) => {
      const field = `spec.externalIPs[${index}]`;
      const problems = addressProblems(field, address);
      return problems.length > 0 ? problems : endpointAddressProblems(field, address);
    }),
    ...oneOf('spec.type', spec.type, TYPES),
    ...nodePortProblems(spec),
    ...balancerProblems(spec),
    ...trafficProblems(spec),
  ];
}

/** serviceStatusProblems validates the load balancer status of a Service. */
export function serviceStatusProblems({ spec = {}, status = {} }: PartialObject<Service>): FieldProblem[] {
  const ingress = status.loadBalancer?.ingress ?? [];
  const field = 'status.loadBalancer.ingress';
  if (spec.type !== 'LoadBalancer' && ingress.length > 0)
    return [forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap(({ ip, hostname }, index) => [
    ...(ip ? addressProblems(`${field}[${index}].ip`, ip) : []),
    ...(hostname ? invalids(`${field}[${index}].hostname`, hostname, dnsSubdomainProblems(hostname)) : []),
  ]);
}

/** selectorProblems validates the labels of a selector. */
export function selectorProblems(
  field: string,
  labels: PartialObject<Record<string, string>> | undefined,
): FieldProblem[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...invalids(field, key, labelKeyProblems(key)),
    ...invalids(field, value, labelValueProblems(String(value))),
  ]);
}

function changeProblems(spec: Spec, before: Spec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const [now = ''] = spec.clusterIPs ?? [];
  const [then = ''] = before.clusterIPs ?? [];
  if (spec.type !== 'ExternalName' && before.type !== 'ExternalName' && then !== '' && now !== then)
    problems.push(invalid('spec.clusterIPs[0]', spec.clusterIPs, 'may not change once set'));
  const isBalanced = spec.type === 'LoadBalancer' && before.type === 'LoadBalancer';
  if (isBalanced && spec.loadBalancerClass !== before.loadBalancerClass)
    problems.push(invalid('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set'));
  return problems;
}

function portsNeeded({ ports = [], type, clusterIP }: Spec): FieldProblem[] {
  return ports.length === 0 && clusterIP !== 'None' && type !== 'ExternalName' ? [required('spec.ports')] : [];
}

function portProblems({ ports = [] }: Spec): FieldProblem[] {
  const names = new Set<string>();
  const problems = ports.flatMap((port, index) => {
    const at = `spec.ports[${index}]`;
    const found: FieldProblem[] = [];
    if (!port.name) {
      if (ports.length > 1) found.push(required(`${at}.name`));
    } else {
      found.push(...invalids(`${at}.name`, port.name, dnsLabelProblems(port.name)));
      if (names.has(port.name)) found.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    found.push(...outside(`${at}.port`, port.port, 1, 65_535));
    found.push(...oneOf(`${at}.protocol`, port.protocol, ['SCTP', 'TCP', 'UDP']));
    found.push(...invalids(`${at}.targetPort`, port.targetPort, portReferenceProblems(port.targetPort)));
    if (port.appProtocol !== undefined)
      found.push(...invalids(`${at}.appProtocol`, port.appProtocol, labelKeyProblems(port.appProtocol)));
    return found;
  });
  const seen = new Set<string>();
  for (const [index, { protocol = '', port = 0 }] of ports.entries()) {
    const id = `${protocol}/${port}`;
    // In the form of the API server's own types, which it uses only here.
    const shown = { Name: '', Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    if (seen.has(id))
      problems.push({ ...duplicate(`spec.ports[${index}]`, ''), message: `Duplicate value: ${JSON.stringify(shown)}` });
    seen.add(id);
  }
  return problems;
}

function affinityProblems({ sessionAffinity, sessionAffinityConfig }: Spec): FieldProblem[] {
  if (sessionAffinity !== 'ClientIP') return [];
  const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? 0;
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  return [invalid(field, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)];
}

function nodePortProblems({ type, ports = [] }: Spec): FieldProblem[] {
  if (type === 'NodePort' || type === 'LoadBalancer') return [];
  return ports.flatMap(({ nodePort }, index) =>
    nodePort ? [forbidden(`spec.ports[${index}].nodePort`, `may not be used when \`type\` is '${type}'`)] : [],
  );
}

function balancerProblems(spec: Spec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const isBalanced = spec.type === 'LoadBalancer';
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    // The API server spells the field like this.
    const field = 'spec.LoadBalancerSourceRanges';
    if (!isBalanced) problems.push(forbidden(field, ONLY_BALANCED));
    problems.push(...ranges.flatMap((range, index) => cidrProblems(`${field}[${index}]`, range.trim())));
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isBalanced)
    problems.push(forbidden('spec.allocateLoadBalancerNodePorts', ONLY_BALANCED));
  if (spec.loadBalancerClass !== undefined) {
    const field = 'spec.loadBalancerClass';
    if (!isBalanced) problems.push(forbidden(field, ONLY_BALANCED));
    else problems.push(...invalids(field, spec.loadBalancerClass, labelKeyProblems(spec.loadBalancerClass)));
  }
  return problems;
}

function trafficProblems(spec: Spec): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const { type, externalTrafficPolicy: external, internalTrafficPolicy: internal } = spec;
  const isReachable = type !== 'ClusterIP' ? type !== 'ExternalName' : (spec.externalIPs ?? []).length > 0;
  if (external !== undefined && !isReachable)
    problems.push(
      invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'),
    );
  else if (external !== undefined && !POLICIES.includes(external))
    problems.push(notSupported('spec.externalTrafficPolicy', external, POLICIES));
  const check = spec.healthCheckNodePort;
  if (check !== undefined && !(type === 'LoadBalancer' && external === 'Local')) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    problems.push(invalid('spec.healthCheckNodePort', check, detail));
  }
  if (internal !== undefined && type !== 'ExternalName' && !POLICIES.includes(internal))
    problems.push(notSupported('spec.internalTrafficPolicy', internal, POLICIES));
  const { trafficDistribution } = spec;
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
  if (trafficDistribution !== undefined && !distributions.includes(trafficDistribution))
    problems.push(notSupported('spec.trafficDistribution', trafficDistribution, distributions));
  return problems;
}
