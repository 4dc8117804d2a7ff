import { DaemonSet, Deployment, type KubernetesObject, keyOf, keyString, type Resource } from '@bowline/kubernetes';
import type { HSMPool } from '../api/hsm-pool.ts';
import { discoveryName, LABELS, poolName } from '../api/names.ts';
import type { Found } from './find-objects.ts';
import { hasController, isOlderAgent, isOlderDiscovery } from './older-workloads.ts';
import { isReady } from './plan-devices.ts';
import type { PlannedStep } from './step.ts';

interface Leftover {
  readonly resource: Resource<KubernetesObject>;
  readonly object: KubernetesObject;
  readonly isOlder: (object: KubernetesObject) => boolean;
  readonly action: string;
}

/**
 * planLeftovers returns the workloads of the older operator that no other object controls, so that only this command
 * can remove them: with `deleteOld`, and once the pools that replace them are Ready.
 */
export function planLeftovers(found: Found, options: { readonly deleteOld: boolean }): readonly PlannedStep[] {
  return leftoversIn(found)
    .filter(({ object }) => object.metadata?.deletionTimestamp === undefined)
    .map((leftover) => planLeftover(leftover, poolsOf(leftover.object, found), options.deleteOld));
}

function leftoversIn({ agents, daemonSets, devices }: Found): readonly Leftover[] {
  const replaced = new Set(
    devices.map(({ metadata }) => `${metadata?.namespace}/${discoveryName(metadata?.name ?? '')}`),
  );
  const isOlder = (object: KubernetesObject): boolean => isOlderDiscovery(object) && !hasController(object);
  return [
    ...agents.map((object) => ({
      ...{ resource: Deployment, object, isOlder: isOlderAgent },
      action: 'delete the agent of the older operator',
    })),
    ...daemonSets
      .filter((object) => isOlder(object) && !replaced.has(keyString(keyOf(object))))
      .map((object) => ({
        ...{ resource: DaemonSet, object, isOlder },
        action: 'delete the discovery of the older operator',
      })),
  ];
}

/** An agent is replaced by those of its HSMDevice; discovery for all HSMDevices by that of all of them. */
function poolsOf(object: KubernetesObject, { pools, devices }: Found): readonly (HSMPool | undefined)[] {
  const { namespace, labels } = object.metadata ?? {};
  const device = labels?.[LABELS.device];
  if (device !== undefined)
    return [pools.find((pool) => keyString(keyOf(pool)) === `${namespace}/${poolName(device)}`)];
  return devices.map(({ metadata }) =>
    pools.find((pool) => keyString(keyOf(pool)) === `${metadata?.namespace}/${poolName(metadata?.name ?? '')}`),
  );
}

function planLeftover(
  { resource, object, isOlder, action }: Leftover,
  pools: readonly (HSMPool | undefined)[],
  deleteOld: boolean,
): PlannedStep {
  const named = { object: `${resource.kind} ${keyString(keyOf(object))}`, action };
  if (pools.length === 0 || pools.includes(undefined)) {
    const { namespace, name } = object.metadata ?? {};
    const byHand = `kubectl delete ${resource.kind.toLowerCase()} ${name} -n ${namespace}`;
    return { state: 'optional', ...named, next: `no HSMPool replaces it; if it is not needed: ${byHand}` };
  }
  const unready = pools.filter((pool) => pool && !isReady(pool)).map((pool) => (pool ? keyString(keyOf(pool)) : ''));
  const wait = `run the migration again when ${unready.length === 1 ? 'the HSMPool' : 'the HSMPools'} ${unready.join(', ')} ${unready.length === 1 ? 'is' : 'are'} Ready`;
  if (!deleteOld) {
    const flags = 'pass --run --delete-old to delete it';
    return { state: 'optional', ...named, next: unready.length > 0 ? `${wait}, with --delete-old` : flags };
  }
  if (unready.length > 0) return { state: 'waiting', ...named, next: wait };
  return { state: 'planned', ...named, change: { type: 'delete', resource, object, isOlder } };
}
