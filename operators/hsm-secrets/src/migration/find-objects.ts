import {
  DaemonSet,
  Deployment,
  type KubernetesObject,
  keyOf,
  keyString,
  type ObjectMeta,
  type Resource,
  Secret,
} from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { discoveryName } from '../api/names.ts';
import { type FoundDefinition, findDefinitions } from './definitions.ts';
import { hasController, isOlderAgent, isOlderDiscovery, isOlderManager } from './older-workloads.ts';

/** Found is the part of the cluster that a migration depends on. */
export interface Found {
  readonly managerNamespace: string;
  readonly definitions: readonly FoundDefinition[];
  readonly devices: readonly HSMDevice[];
  readonly pools: readonly HSMPool[];
  readonly secrets: readonly HSMSecret[];
  /** The metadata of the Secrets of the namespaces with HSMSecrets. */
  readonly delivered: readonly { readonly metadata?: ObjectMeta | undefined }[];
  /** The Deployments of the older operator, whether they run or not. */
  readonly managers: readonly Deployment[];
  /** The names of all Deployments that an HSMSecret may name as its parent, as `namespace/name`. */
  readonly deployments: ReadonlySet<string>;
  readonly agents: readonly Deployment[];
  /** The DaemonSets that have the name of discovery of an HSMDevice, or belong to the older operator. */
  readonly daemonSets: readonly DaemonSet[];
}

/** Scope selects where a migration works. */
export interface Scope {
  readonly managerNamespace: string;
  /** Undefined means the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
}

/** findObjects reads what a migration depends on. It reads no content of Secrets. */
export async function findObjects(client: Client, scope: Scope, signal: AbortSignal): Promise<Found> {
  const { managerNamespace, namespaces } = scope;
  const definitions = await findDefinitions(client, signal);
  const all = <T extends KubernetesObject>(resource: Resource<T>, options: SelectOptions<T> = {}): Promise<T[]> =>
    select(client, resource, { namespaces, ...options, signal });
  const custom = async <T extends KubernetesObject>(resource: Resource<T>): Promise<T[]> => {
    if (definitions.some(({ kind, state }) => kind === resource.kind && state === 'missing')) return [];
    // Older definitions do not require a spec.
    return (await all(resource)).map((each) => ({ spec: {}, ...each }));
  };
  const devices = await custom(HSMDevice);
  const secrets = await custom(HSMSecret);
  const discoveryNames = new Set(
    devices.map(({ metadata }) => `${metadata?.namespace}/${discoveryName(metadata?.name ?? '')}`),
  );
  const deployments = new Set<string>();
  const workloads = await all(Deployment, {
    keep: (each) => {
      deployments.add(keyString(keyOf(each)));
      return isOlderManager(each) || isOlderAgent(each);
    },
  });
  return {
    managerNamespace,
    definitions,
    devices,
    pools: await custom(HSMPool),
    secrets,
    delivered: await all(Secret, {
      namespaces: [...new Set(secrets.map(({ metadata }) => metadata?.namespace ?? ''))],
      metadataOnly: true,
    }),
    managers: workloads.filter(isOlderManager),
    deployments,
    agents: workloads.filter(isOlderAgent),
    daemonSets: await all(DaemonSet, {
      keep: (each) => discoveryNames.has(keyString(keyOf(each))) || (isOlderDiscovery(each) && !hasController(each)),
    }),
  };
}

interface SelectOptions<T> {
  readonly namespaces?: readonly string[] | undefined;
  readonly metadataOnly?: boolean;
  readonly keep?: (object: T) => boolean;
}

/** Whole clusters may have many objects, of which few are kept. */
async function select<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  { namespaces, keep = () => true, ...options }: SelectOptions<T> & { readonly signal: AbortSignal },
): Promise<T[]> {
  const kept: T[] = [];
  for (const namespace of namespaces ?? [undefined]) {
    for await (const { items } of client.pages(resource, { ...options, namespace })) kept.push(...items.filter(keep));
  }
  return kept;
}
