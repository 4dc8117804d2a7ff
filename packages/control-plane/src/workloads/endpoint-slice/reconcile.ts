import { EndpointSlice, keyOf, keyString, Node, Pod, parseKey, Service } from '@bowline/kubernetes';
import { formatTime, labelSelector } from '@bowline/machinery';
import { controller } from '@bowline/runtime';
import { isForbidden, isNotFound } from '@bowline/runtime/client';
import { sameJson } from '../../node-agent/same-json.ts';
import { byAge } from '../pods/pod-state.ts';
import { desiredSlices, isManaged, SERVICE_LABEL } from './desired-slices.ts';

const LAST_CHANGE = 'endpoints.kubernetes.io/last-change-trigger-time';

const sources = controller(Service, { name: 'endpoint-slices', concurrency: 8 })
  // Read only for their zones.
  .watches(Node, { map: () => [] })
  // Not owned: slices belong to a Service by their label, even if they have lost their owner reference.
  .watches(EndpointSlice, {
    indexes: { service: serviceOf },
    map: (slice) => (isManaged(slice) ? serviceOf(slice).map(parseKey) : []),
  })
  .watches(Pod, {
    map: (pod, cache) =>
      cache
        .list(Service, { namespace: pod.metadata.namespace })
        .filter((service) => hasSelector(service) && selects(service, pod))
        .map(keyOf),
  });

type Context = Parameters<Parameters<(typeof sources)['reconcile']>[0]>[0];

/** endpointSlices publishes the addresses of the Pods of Services. */
export const endpointSlices = sources.reconcile(reconcile);

async function reconcile(context: Context): Promise<void> {
  const { object: service, key, get, list, live } = context;
  if (!hasSelector(service)) return;
  const pods = list(Pod, { namespace: service.metadata.namespace }).filter((pod) => selects(service, pod));
  const existing = list(EndpointSlice, { by: { service: keyString(key) } })
    .filter((slice) => isManaged(slice) && slice.metadata.deletionTimestamp === undefined)
    .toSorted(byAge);
  for (const desired of desiredSlices(service, pods, (name) => get(Node, { name }))) {
    const before = mostSimilar(existing, desired);
    if (before) existing.splice(existing.indexOf(before), 1);
    if (!before) await create(context, desired);
    else if (!isSame(before, desired)) await update(context, before, desired);
  }
  for (const surplus of existing) {
    await live.delete(EndpointSlice, keyOf(surplus)).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

/** mostSimilar prefers a slice that already matches, then one with the same ports and family, then any of the family. */
function mostSimilar<S extends EndpointSlice>(existing: readonly S[], desired: EndpointSlice): S | undefined {
  const sameFamily = existing.filter(({ addressType }) => addressType === desired.addressType);
  return (
    sameFamily.find((slice) => isSame(slice, desired)) ??
    sameFamily.find((slice) => hasSamePorts(slice, desired)) ??
    sameFamily[0]
  );
}

async function create({ live, clock }: Context, desired: EndpointSlice): Promise<void> {
  const metadata = { ...desired.metadata, annotations: { [LAST_CHANGE]: formatTime(clock.now()) } };
  await live.create(EndpointSlice, { ...desired, metadata }).catch((error: unknown) => {
    // A terminating namespace accepts no new objects.
    if (!isForbidden(error) && !isNotFound(error)) throw error;
  });
}

async function update({ live, clock }: Context, before: EndpointSlice, desired: EndpointSlice): Promise<void> {
  const { labels, ownerReferences } = desired.metadata ?? {};
  const annotations = { ...before.metadata?.annotations, [LAST_CHANGE]: formatTime(clock.now()) };
  const metadata = { ...before.metadata, labels, ownerReferences, annotations };
  await live.update(EndpointSlice, { ...desired, metadata });
}

function isSame(before: EndpointSlice, after: EndpointSlice): boolean {
  return (
    sameJson(before.metadata?.labels, after.metadata?.labels) &&
    hasSamePorts(before, after) &&
    // An empty list is returned as null, which the types do not cover.
    sameJson(before.endpoints, after.endpoints.length > 0 ? after.endpoints : null)
  );
}

function hasSamePorts(before: EndpointSlice, after: EndpointSlice): boolean {
  return sameJson(before.ports, after.ports?.length ? after.ports : null);
}

/** Another controller manages the endpoints of Services without a selector; ExternalName has none. */
function hasSelector({ spec }: Service): boolean {
  return spec?.type !== 'ExternalName' && Object.keys(spec?.selector ?? {}).length > 0;
}

function selects({ spec }: Service, { metadata }: Pod): boolean {
  return labelSelector({ matchLabels: spec?.selector ?? {} }).matches(metadata?.labels);
}

function serviceOf({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata?.labels?.[SERVICE_LABEL];
  return name === undefined ? [] : [keyString({ namespace: metadata?.namespace, name })];
}
