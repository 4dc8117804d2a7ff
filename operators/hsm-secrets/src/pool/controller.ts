import {
  DaemonSet,
  keyOf,
  keyString,
  type ObjectKey,
  Pod,
  parseKey,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '@bowline/kubernetes';
import { anyOf, changed, controller, generationChanged, keyed, project } from '@bowline/runtime';
import type { CacheReads } from '@bowline/runtime/controller';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { DISCOVERY_SELECTOR, LABELS, MANAGER } from '../api/names.ts';
import type { Deps } from '../deps.ts';
import { bindingView, policyView } from '../guard/guard-state.ts';
import { accountsBinding, accountsPolicy, reportsBinding, reportsPolicy } from '../guard/report-policies.ts';
import { type DiscoveryPod, devicesOf, podChanged, podView } from './discovery-pod.ts';
import { observeReport } from './observe-report.ts';

/** daemonSetView keeps how many pods of a DaemonSet of discovery should report, and from which template. */
export const daemonSetView = project(({ metadata, spec, status }: DaemonSet) => ({
  namespace: metadata?.namespace ?? '',
  uid: metadata?.uid ?? '',
  device: metadata?.labels?.[LABELS.device] ?? '',
  ownerUID: metadata?.ownerReferences?.find((owner) => owner.controller)?.uid,
  desiredPods: status?.desiredNumberScheduled ?? 0,
  templateHash: spec?.template.metadata?.labels?.[LABELS.templateHash],
}));

/** DISCOVERY_SETS selects the DaemonSets of discovery. */
export const DISCOVERY_SETS: string = `${LABELS.component}=discovery,${LABELS.managedBy}=${MANAGER}`;

const YES = 'yes';
const MAX_BACKOFF_MS = 30_000;

const poolIndexes = {
  /** `namespace/name` of the HSMDevice. */
  device: ({ metadata, spec }: HSMPool) => [deviceKey(metadata?.namespace, spec.hsmDeviceRef)],
  serial: (pool: HSMPool) => serialsOf(pool),
};

const deviceIndexes = {
  /** Devices that find every USB device with a smart card interface. */
  auto: ({ spec }: HSMDevice) => ((spec.discovery ?? { autoDiscovery: true }).autoDiscovery ? [YES] : []),
};

const podIndexes = {
  device: (pod: DiscoveryPod) => devicesOf(pod).map((device) => deviceKey(pod.namespace, device)),
};

/** poolController watches what the content of a pool follows from. */
export const poolController = controller(HSMPool, {
  name: 'pool',
  concurrency: 4,
  indexes: poolIndexes,
  // After an outage of the API server, no event wakes a pool whose devices were lost meanwhile.
  backoff: { maxMs: MAX_BACKOFF_MS },
})
  .using<Deps>()
  .watches(HSMDevice, {
    indexes: deviceIndexes,
    when: generationChanged,
    map: (device, cache) => [
      ...poolsOf(cache, keyString(keyOf(device))),
      // Whether discovery overlaps depends on all of them.
      ...cache.list(HSMDevice, { by: { auto: YES } }).flatMap((other) => poolsOf(cache, keyString(keyOf(other)))),
    ],
  })
  .watches(DaemonSet, {
    labelSelector: DISCOVERY_SETS,
    view: daemonSetView,
    indexes: { device: ({ namespace, device }) => [deviceKey(namespace, device)] },
    map: ({ namespace, device }, cache) => poolsOf(cache, deviceKey(namespace, device)),
  })
  .watches(Pod, {
    labelSelector: DISCOVERY_SELECTOR,
    view: podView,
    indexes: podIndexes,
    when: podChanged,
    map: (pod, cache) => podIndexes.device(pod).flatMap((device) => poolsOf(cache, device)),
  })
  .watches(HSMPool, {
    as: 'others',
    when: changed((before: HSMPool, after) => serialsOf(before).join() !== serialsOf(after).join()),
    // The pools that have one of its devices too.
    map: (pool, cache) => serialsOf(pool).flatMap((serial) => cache.list(HSMPool, { by: { serial } }).map(keyOf)),
  })
  .watches(ValidatingAdmissionPolicy, {
    as: 'reports-policy',
    fieldSelector: reportsPolicy.fieldSelector,
    view: policyView,
    map: (_, cache) => cache.list(HSMPool).map(keyOf),
  })
  .watches(ValidatingAdmissionPolicy, {
    as: 'accounts-policy',
    fieldSelector: accountsPolicy.fieldSelector,
    view: policyView,
    map: (_, cache) => cache.list(HSMPool).map(keyOf),
  })
  .watches(ValidatingAdmissionPolicyBinding, {
    as: 'reports-binding',
    fieldSelector: reportsBinding.fieldSelector,
    view: bindingView,
    map: (_, cache) => cache.list(HSMPool).map(keyOf),
  })
  .watches(ValidatingAdmissionPolicyBinding, {
    as: 'accounts-binding',
    fieldSelector: accountsBinding.fieldSelector,
    view: bindingView,
    map: (_, cache) => cache.list(HSMPool).map(keyOf),
  })
  .triggeredBy('woken', async function* (signal, { wokenPools }) {
    for await (const key of wokenPools.follow(signal)) yield parseKey(key);
  })
  .when(
    anyOf(
      generationChanged,
      // Devices show the part that they play in mirroring.
      changed(
        (before: HSMPool, after) => before.status?.mirroring?.primarySerial !== after.status?.mirroring?.primarySerial,
      ),
    ),
  );

/** PoolContext is the context of a run of the controller. */
export type PoolContext = Parameters<Parameters<(typeof poolController)['reconcile']>[0]>[0];

/**
 * reportsController records when the report of each pod changed. It runs with every heartbeat, and wakes a pool only
 * if the pod was stale there.
 */
export const reportsController = keyed('reports', { concurrency: 1 })
  .using<Deps>()
  .watches(Pod, {
    labelSelector: DISCOVERY_SELECTOR,
    view: podView,
    when: changed((before: DiscoveryPod, after) => before.reportVersion !== after.reportVersion),
    map: (pod) => [`${keyString(pod)}/${pod.uid}`],
  })
  .watches(HSMPool, { when: ({ current }) => current === undefined, map: (pool) => [keyString(keyOf(pool))] })
  .reconcile(observeReport);

/** deviceKey returns the index value of an HSMDevice. */
export function deviceKey(namespace: string | undefined, name: string): string {
  return `${namespace}/${name}`;
}

/** serialsOf returns the serial numbers that a pool has and does not leave to another pool. */
export function serialsOf({ status }: Pick<HSMPool, 'status'>): readonly string[] {
  return (status?.aggregatedDevices ?? []).flatMap(({ serialNumber, health }) =>
    serialNumber === undefined || health === 'Claimed' ? [] : [serialNumber],
  );
}

type Pools = CacheReads<{
  readonly [K in (typeof HSMPool)['id']]: { readonly value: HSMPool; readonly index: keyof typeof poolIndexes };
}>;

function poolsOf(cache: Pools, device: string): readonly ObjectKey[] {
  return cache.list(HSMPool, { by: { device } }).map(keyOf);
}
