import type { PersistentVolumeClaim, Pod, Service } from '@bowline/kubernetes';
import { parseQuantity, type Quantity } from '@bowline/machinery';
import { type Amounts, amountsIn, limitsOf, requestsOf } from '../../objects/pod-amounts.ts';

/** whole returns a quantity of that many units. */
function whole(count: number): Quantity {
  return { nanos: BigInt(count) * 1_000_000_000n, format: 'DecimalSI' };
}

const ONE = whole(1);

/** Resources whose requests a quota may also limit by their plain name, without the prefix `requests.`. */
const PLAIN = /^(?:cpu|memory|ephemeral-storage|hugepages-.*)$/;
const STANDARD_REQUEST = /^requests\.(?:cpu|memory|ephemeral-storage|hugepages-.*|(?![^/]*kubernetes\.io\/)[^/]+\/.+)$/;
const STANDARD_LIMIT = /^limits\.(?:cpu|memory|ephemeral-storage)$/;
const CLASS_STORAGE = /\.storageclass\.storage\.k8s\.io\/(?:requests\.storage|persistentvolumeclaims)$/;

/** Kinds that are also counted under their plain name, which is older than `count/<collection>`. */
const NAMED: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'persistentvolumeclaims',
  'configmaps',
  'secrets',
  'resourcequotas',
  'replicationcontrollers',
]);

/** VARIABLE_USAGE_COLLECTIONS holds the collections whose objects differ in usage: objects of other collections need not be parsed. */
export const VARIABLE_USAGE_COLLECTIONS: ReadonlySet<string> = new Set(['pods', 'services', 'persistentvolumeclaims']);

/**
 * collectionCountedBy returns the collection whose objects count against a name in a quota; undefined for names that
 * count nothing.
 */
export function collectionCountedBy(name: string): string | undefined {
  // Recording events is never limited.
  if (name === 'count/events') return undefined;
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (NAMED.has(name)) return name;
  if (name === 'services.nodeports' || name === 'services.loadbalancers') return 'services';
  if (name === 'requests.storage' || CLASS_STORAGE.test(name)) return 'persistentvolumeclaims';
  if (PLAIN.test(name) || STANDARD_REQUEST.test(name) || STANDARD_LIMIT.test(name)) return 'pods';
  return undefined;
}

/** usageOf returns the usage of an object for every resource that quotas can limit, whether or not a quota does. */
export function usageOf(collection: string, object: object): Amounts {
  const usage = new Map([[`count/${collection}`, ONE]]);
  if (collection === 'pods') {
    // A Pod that has ended still exists, but uses no resources any more.
    if (hasEnded(object)) return usage;
    addPod(usage, object);
  }
  if (NAMED.has(collection)) usage.set(collection, ONE);
  if (collection === 'services') addService(usage, object);
  if (collection === 'persistentvolumeclaims') addClaim(usage, object);
  return usage;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

function addPod(usage: Map<string, Quantity>, pod: Pod): void {
  for (const [name, amount] of requestsOf(pod)) {
    usage.set(`requests.${name}`, amount);
    if (PLAIN.test(name)) usage.set(name, amount);
  }
  for (const [name, amount] of limitsOf(pod)) usage.set(`limits.${name}`, amount);
}

function addService(usage: Map<string, Quantity>, { spec }: Service): void {
  const ports = spec?.ports ?? [];
  if (spec?.type === 'NodePort') usage.set('services.nodeports', whole(ports.length));
  if (spec?.type !== 'LoadBalancer') return;
  usage.set('services.loadbalancers', ONE);
  const nodePorts = spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports;
  usage.set('services.nodeports', whole(nodePorts.length));
}

function addClaim(usage: Map<string, Quantity>, { metadata, spec }: PersistentVolumeClaim): void {
  const requested = spec?.resources?.requests?.storage;
  const storage = requested === undefined ? undefined : parseQuantity(requested);
  if (storage) usage.set('requests.storage', storage);
  // The annotation predates the field and takes precedence.
  const annotated = metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'];
  const storageClass = annotated ?? spec?.storageClassName;
  if (!storageClass) return;
  const prefix = `${storageClass}.storageclass.storage.k8s.io`;
  usage.set(`${prefix}/persistentvolumeclaims`, ONE);
  if (storage) usage.set(`${prefix}/requests.storage`, storage);
}

/**
 * Resources that every container of a Pod must specify if a quota limits them: otherwise usage could not be counted.
 */
const REQUIRED = /^(?:(?:requests\.|limits\.)?(?:cpu|memory))$/;

/**
 * unspecifiedResources returns the limited resources that containers of a Pod do not specify: `cpu for: a,b; memory for: b`. Empty if
 * none.
 */
export function unspecifiedResources({ spec }: Pod, limited: Iterable<string>): string {
  if (spec?.resources) return '';
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name, resources }) => ({
    name,
    requests: amountsIn(resources?.requests),
    limits: amountsIn(resources?.limits),
  }));
  const parts = [...limited].sort().flatMap((name) => {
    if (!REQUIRED.test(name)) return [];
    const [, field, resource = ''] = /^(?:(requests|limits)\.)?(.*)$/.exec(name) ?? [];
    const unspecified = containers.filter((each) => !each[field === 'limits' ? 'limits' : 'requests'].has(resource));
    const names = unspecified.map((each) => each.name).sort();
    return names.length === 0 ? [] : [`${name} for: ${names.join(',')}`];
  });
  return parts.join('; ');
}
