import { DaemonSet, Deployment, keyString, type ObjectKey, Pod, parseKey, Secret } from '@bowline/kubernetes';
import {
  anyOf,
  changed,
  controller,
  findCondition,
  generationChanged,
  labelsChanged,
  ownerReferencesChanged,
  trigger,
} from '@bowline/runtime';
import { AGENT_SELECTOR, type AgentPod, agentPodView } from '../agent-client/agent-directory.ts';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { DISCOVERY_SELECTOR, poolName } from '../api/names.ts';
import type { Deps } from '../deps.ts';
import { DISCOVERY_SETS, daemonSetView, deviceKey } from '../pool/controller.ts';
import { type DiscoveryPod, devicesOf, podView } from '../pool/discovery-pod.ts';

const deviceIndexes = {
  /** The Secret of the PIN. */
  pin: ({ metadata, spec }: HSMDevice) => {
    const { pinSecret } = spec.pkcs11 ?? {};
    return pinSecret ? [keyString({ namespace: metadata?.namespace, name: pinSecret.name })] : [];
  },
};

/** Agents belong to the pool that the operator creates for an HSMDevice. */
const poolOf = (namespace: string | undefined, device: string): ObjectKey => ({ namespace, name: poolName(device) });

/** agentsController watches what the agents of a pool depend on. */
export const agentsController = controller(HSMPool, { name: 'agents', summarize: false, concurrency: 4 })
  .using<Deps>()
  .owns(Deployment, {
    labelSelector: AGENT_SELECTOR,
    when: anyOf(generationChanged, labelsChanged(), ownerReferencesChanged),
    remove: true,
  })
  .watches(HSMDevice, {
    indexes: deviceIndexes,
    when: generationChanged,
    map: ({ metadata }) => [poolOf(metadata.namespace, metadata.name)],
  })
  .watches(DaemonSet, {
    labelSelector: DISCOVERY_SETS,
    view: daemonSetView,
    indexes: { device: ({ namespace, device }) => [deviceKey(namespace, device)] },
    map: ({ namespace, device }) => [poolOf(namespace, device)],
  })
  .watches(Pod, {
    as: 'discovery-pods',
    labelSelector: DISCOVERY_SELECTOR,
    view: podView,
    indexes: { device: (pod: DiscoveryPod) => devicesOf(pod).map((device) => deviceKey(pod.namespace, device)) },
    when: changed((before: DiscoveryPod, after) => gateKey(before) !== gateKey(after)),
    map: ({ namespace, device }) => (device === undefined ? [] : [poolOf(namespace, device)]),
  })
  .watches(Pod, {
    as: 'agent-pods',
    labelSelector: AGENT_SELECTOR,
    view: agentPodView,
    indexes: { device: ({ namespace, device }: AgentPod) => [deviceKey(namespace, device)] },
    map: ({ namespace, device }) => [poolOf(namespace, device)],
  })
  .watches(Secret, {
    as: 'pins',
    view: trigger((key, _, cache) => cache.list(HSMDevice, { by: { pin: keyString(key) } }).length > 0),
    map: ({ metadata: { namespace, name } }, cache) =>
      cache
        .list(HSMDevice, { by: { pin: keyString({ namespace, name }) } })
        .map(({ metadata }) => poolOf(metadata.namespace, metadata.name)),
  })
  .reports(HSMDevice)
  .triggeredBy('agents', async function* (signal, { agents }) {
    for await (const device of agents.changes(signal)) {
      const { namespace, name } = parseKey(device);
      yield poolOf(namespace, name);
    }
  })
  .when(
    anyOf(
      generationChanged,
      changed((before: HSMPool, after) => devicesKey(before) !== devicesKey(after)),
      changed((before: HSMPool, after) => isGuarded(before) !== isGuarded(after)),
    ),
  );

/**
 * isGuarded reports whether the devices of a pool follow from reports that the API server has checked. The condition is
 * written together with the devices, so that a device that was reported without the policies never looks guarded.
 */
export function isGuarded(pool: HSMPool): boolean {
  return findCondition(pool, 'ReportsGuarded')?.status === 'True';
}

/** AgentsContext is the context of a run of the controller. */
export type AgentsContext = Parameters<Parameters<(typeof agentsController)['reconcile']>[0]>[0];

/** What decides whether an agent may be created on the node of a pod. */
function gateKey({ isReady, isTerminating, isLive, templateHash, nodeName }: DiscoveryPod): string {
  return [isReady, isTerminating, isLive, templateHash, nodeName].join();
}

/** What of the devices of a pool decides about agents. */
function devicesKey({ status }: HSMPool): string {
  return JSON.stringify(
    (status?.aggregatedDevices ?? []).map(({ id, nodeName, devicePath, health }) => [
      id,
      nodeName,
      devicePath,
      health === 'Claimed',
    ]),
  );
}
