import { EndpointSlice, keyOf, keyString, Node, Pod, parseKey, Service } from '@bowline/kubernetes';
import { formatTime, labelSelector } from '@bowline/machinery';
import { keyed } from '@bowline/runtime';
import { isForbidden, isNotFound } from '@bowline/runtime/client';
import type { Controller } from '@bowline/runtime/controller';
import { sameJson } from '../../node-agent/same-json.ts';
import { byAge } from '../pods/pod-state.ts';
import { isManaged, SERVICE_LABEL, slicesFor } from './slices.ts';

const CHANGED_AT = 'endpoints.kubernetes.io/last-change-trigger-time';

/** endpointSlices publishes the addresses of the Pods of Services. */
export function endpointSlices(): Controller<unknown> {
  return keyed('endpoint-slices', { concurrency: 8 })
    .watches(Service, { map: (service) => [keyString(keyOf(service))] })
    .watches(Node, { map: () => [] })
    .watches(EndpointSlice, {
      indexes: { service: serviceOf },
      map: (slice) => (isManaged(slice) ? serviceOf(slice) : []),
    })
    .watches(Pod, {
      map: (pod, cache) =>
        cache
          .list(Service, { namespace: pod.metadata?.namespace })
          .filter((service) => isSelecting(service) && selects(service, pod))
          .map((service) => keyString(keyOf(service))),
    })
    .reconcile(async ({ key, get, list, live, clock }) => {
      const service = get(Service, parseKey(key));
      if (!service || service.metadata?.deletionTimestamp !== undefined || !isSelecting(service)) return;
      const pods = list(Pod, { namespace: service.metadata?.namespace }).filter((pod) => selects(service, pod));
      const wanted = slicesFor(service, pods, (name) => get(Node, { name }));
      const left = list(EndpointSlice, { by: { service: key } })
        .filter((slice) => isManaged(slice) && slice.metadata?.deletionTimestamp === undefined)
        .toSorted(byAge);
      const changed = { [CHANGED_AT]: formatTime(clock.now()) };
      for (const slice of wanted) {
        // Prefer a slice that already matches, then one with the same ports and family, then any of the family.
        const fitting = left.filter(({ addressType }) => addressType === slice.addressType);
        const before =
          fitting.find((each) => isSame(each, slice)) ??
          fitting.find(({ ports }) => sameJson(ports, slice.ports?.length ? slice.ports : null)) ??
          fitting[0];
        if (before) left.splice(left.indexOf(before), 1);
        if (before && isSame(before, slice)) continue;
        const { labels, ownerReferences, generateName, namespace } = slice.metadata ?? {};
        if (before) {
          const annotations = { ...before.metadata?.annotations, ...changed };
          await live.update(EndpointSlice, {
            ...slice,
            metadata: { ...before.metadata, labels, ownerReferences, annotations },
          });
        } else {
          const metadata = { generateName, namespace, labels, ownerReferences, annotations: changed };
          await live.create(EndpointSlice, { ...slice, metadata }).catch((error: unknown) => {
            // A terminating namespace accepts no new objects.
            if (!isForbidden(error) && !isNotFound(error)) throw error;
          });
        }
      }
      for (const slice of left) {
        await live.delete(EndpointSlice, keyOf(slice)).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    });
}

function isSame(before: EndpointSlice, after: EndpointSlice): boolean {
  return (
    sameJson(before.metadata?.labels, after.metadata?.labels) &&
    sameJson(before.ports, after.ports?.length ? after.ports : null) &&
    // An empty list is returned as null, which the types do not cover.
    sameJson(before.endpoints, after.endpoints.length > 0 ? after.endpoints : null)
  );
}

/** Another controller manages the endpoints of Services without a selector; ExternalName has none. */
function isSelecting({ spec }: Service): boolean {
  return spec?.type !== 'ExternalName' && Object.keys(spec?.selector ?? {}).length > 0;
}

function selects({ spec }: Service, { metadata }: Pod): boolean {
  return labelSelector({ matchLabels: spec?.selector ?? {} }).matches(metadata?.labels);
}

function serviceOf({ metadata }: EndpointSlice): readonly string[] {
  const name = metadata?.labels?.[SERVICE_LABEL];
  return name === undefined ? [] : [keyString({ namespace: metadata?.namespace, name })];
}
