import type { PersistentVolumeClaim, Pod, Service } from '@bowline/kubernetes';
import { parseQuantity, type Quantity } from '@bowline/machinery';
import { type Amounts, amountsIn, limitsOf, requestsOf } from '../../objects/pod-amounts.ts';

/** whole is a number of pieces. */
function whole(count: number): Quantity {
  return { nanos: BigInt(count) * 1_000_000_000n, format: 'DecimalSI' };
}

const ONE = whole(1);

/** What Pods ask for, of all that quotas may name without saying whether they mean requests or limits. */
const PLAIN = /^(?:cpu|memory|ephemeral-storage|hugepages-.*)$/;
const STANDARD_REQUEST = /^requests\.(?:cpu|memory|ephemeral-storage|hugepages-.*|(?![^/]*kubernetes\.io\/)[^/]+\/.+)$/;
const STANDARD_LIMIT = /^limits\.(?:cpu|memory|ephemeral-storage)$/;
const CLASS_STORAGE = /\.storageclass\.storage\.k8s\.io\/(?:requests\.storage|persistentvolumeclaims)$/;

/** Kinds that are counted under their own name too, as they were before there was a name for every kind. */
const NAMED: ReadonlySet<string> = new Set([
  'pods',
  'services',
  'persistentvolumeclaims',
  'configmaps',
  'secrets',
  'resourcequotas',
  'replicationcontrollers',
]);

/** VARYING are the collections of which not every object counts the same: of others nothing needs to be read. */
export const VARYING: ReadonlySet<string> = new Set(['pods', 'services', 'persistentvolumeclaims']);

/** collectionCountedBy is where the objects are that count against a name in a quota; undefined for names that nothing counts. */
export function collectionCountedBy(name: string): string | undefined {
  // Nobody is kept from telling what happens.
  if (name === 'count/events') return undefined;
  if (name.startsWith('count/')) return name.slice('count/'.length);
  if (NAMED.has(name)) return name;
  if (name === 'services.nodeports' || name === 'services.loadbalancers') return 'services';
  if (name === 'requests.storage' || CLASS_STORAGE.test(name)) return 'persistentvolumeclaims';
  if (PLAIN.test(name) || STANDARD_REQUEST.test(name) || STANDARD_LIMIT.test(name)) return 'pods';
  return undefined;
}

/** usageOf is what an object takes of everything that quotas can limit, whether or not one does. */
export function usageOf(collection: string, object: object): Amounts {
  const usage = new Map([[`count/${collection}`, ONE]]);
  if (collection === 'pods') {
    // One that has ended is still there, and holds nothing any more.
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
  const onNodes = spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports;
  usage.set('services.nodeports', whole(onNodes.length));
}

function addClaim(usage: Map<string, Quantity>, { metadata, spec }: PersistentVolumeClaim): void {
  const asked = spec?.resources?.requests?.storage;
  const storage = asked === undefined ? undefined : parseQuantity(asked);
  if (storage) usage.set('requests.storage', storage);
  // The annotation is older than the field, and wins.
  const annotated = metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'];
  const storageClass = annotated ?? spec?.storageClassName;
  if (!storageClass) return;
  const prefix = `${storageClass}.storageclass.storage.k8s.io`;
  usage.set(`${prefix}/persistentvolumeclaims`, ONE);
  if (storage) usage.set(`${prefix}/requests.storage`, storage);
}

/** What every container of a Pod has to say where a quota limits it: nobody could count what is not said. */
const DEMANDED = /^(?:(?:requests\.|limits\.)?(?:cpu|memory))$/;

/** unsaid is what containers of a Pod leave unsaid of what quotas limit: `cpu for: a,b; memory for: b`. Empty if nothing. */
export function unsaid({ spec }: Pod, limited: Iterable<string>): string {
  if (spec?.resources) return '';
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].map(({ name, resources }) => ({
    name,
    requests: amountsIn(resources?.requests),
    limits: amountsIn(resources?.limits),
  }));
  const parts = [...limited].sort().flatMap((name) => {
    if (!DEMANDED.test(name)) return [];
    const [, field, resource = ''] = /^(?:(requests|limits)\.)?(.*)$/.exec(name) ?? [];
    const silent = containers.filter((each) => !each[field === 'limits' ? 'limits' : 'requests'].has(resource));
    const names = silent.map((each) => each.name).sort();
    return names.length === 0 ? [] : [`${name} for: ${names.join(',')}`];
  });
  return parts.join('; ');
}
