import { isIPv6 } from 'node:net';
import { type Endpoint, type EndpointSlice, type Node, type Pod, Service } from '@bowline/kubernetes';
import type { EndpointPort } from '@bowline/kubernetes/discovery-v1';
import { ownerReference } from '@bowline/runtime/writing';
import { isFinished, isReady } from '../pods/pod-state.ts';

/** SERVICE_LABEL names the Service that a slice belongs to. */
export const SERVICE_LABEL = 'kubernetes.io/service-name';
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const MAX_ENDPOINTS = 100;

type Family = 'IPv4' | 'IPv6';

/** isManaged reports whether this controller manages a slice, and not another client. */
export function isManaged({ metadata }: EndpointSlice): boolean {
  return metadata?.labels?.[MANAGED_BY] === MANAGER;
}

/**
 * desiredSlices returns the slices that a Service should have: for each family and each set of ports, filled one after the
 * other.
 */
export function desiredSlices(
  service: Service,
  pods: readonly Pod[],
  findNode: (name: string) => Node | undefined,
): readonly EndpointSlice[] {
  const families: readonly string[] = service.spec?.ipFamilies ?? ['IPv4'];
  return families.flatMap((family) => familySlices(service, family === 'IPv6' ? 'IPv6' : 'IPv4', pods, findNode));
}

function familySlices(
  service: Service,
  addressType: Family,
  pods: readonly Pod[],
  findNode: (name: string) => Node | undefined,
): readonly EndpointSlice[] {
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>();
  const inOrder = pods.toSorted((a, b) => ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1));
  for (const pod of inOrder) {
    const address = addressOf(pod, addressType);
    if (address === undefined || isFinished(pod)) continue;
    const ports = portsOf(service, pod);
    const key = JSON.stringify(ports);
    const group = groups.get(key) ?? { ports, endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpointOf(service, pod, address, findNode));
  }
  const slice = (ports: readonly EndpointPort[], endpoints: readonly Endpoint[]): EndpointSlice => ({
    metadata: metadataFor(service),
    addressType,
    ports,
    endpoints,
  });
  // A Service without endpoints has an empty slice, which shows that the Service was processed.
  if (groups.size === 0) return [slice([], [])];
  return [...groups.values()].flatMap(({ ports, endpoints }) =>
    Array.from({ length: Math.ceil(endpoints.length / MAX_ENDPOINTS) }, (_, index) =>
      slice(ports, endpoints.slice(index * MAX_ENDPOINTS, (index + 1) * MAX_ENDPOINTS)),
    ),
  );
}

function metadataFor(service: Service): EndpointSlice['metadata'] {
  const { name = '', namespace, labels } = service.metadata ?? {};
  return {
    generateName: `${name}-`,
    namespace,
    labels: {
      ...labels,
      [SERVICE_LABEL]: name,
      [MANAGED_BY]: MANAGER,
      ...(service.spec?.clusterIP === 'None' ? { [HEADLESS]: '' } : {}),
    },
    ownerReferences: [ownerReference({ resource: Service, object: service })],
  };
}

function endpointOf(
  service: Service,
  pod: Pod,
  address: string,
  findNode: (name: string) => Node | undefined,
): Endpoint {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata ?? {};
  const { nodeName, hostname, subdomain } = pod.spec ?? {};
  const isServing = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const zone = nodeName ? findNode(nodeName)?.metadata?.labels?.['topology.kubernetes.io/zone'] : undefined;
  const ready = service.spec?.publishNotReadyAddresses === true || (isServing && !terminating);
  return {
    addresses: [address],
    conditions: { ready, serving: isServing, terminating },
    ...(hostname && subdomain === service.metadata?.name ? { hostname } : {}),
    ...(nodeName ? { nodeName } : {}),
    targetRef: { kind: 'Pod', namespace, name, uid },
    ...(zone === undefined ? {} : { zone }),
  };
}

function addressOf({ status }: Pod, family: Family): string | undefined {
  const addresses = status?.podIPs ?? (status?.podIP ? [{ ip: status.podIP }] : []);
  return addresses.find(({ ip }) => ip !== undefined && isIPv6(ip) === (family === 'IPv6'))?.ip;
}

/** A named port may have a different number in each Pod; a Pod without it gets no endpoint port for it. */
function portsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap(({ name = '', port, protocol = 'TCP', targetPort, appProtocol }) => {
    const target = targetPort ?? port;
    const number = typeof target === 'number' ? target : containerPort(pod, target, protocol);
    return number === undefined ? [] : [{ name, port: number, protocol, ...(appProtocol ? { appProtocol } : {}) }];
  });
}

function containerPort({ spec }: Pod, name: string, protocol: string): number | undefined {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const { ports } of [...(spec?.containers ?? []), ...sidecars]) {
    const found = ports?.find((port) => port.name === name && (port.protocol ?? 'TCP') === protocol);
    if (found) return found.containerPort;
  }
  return undefined;
}
