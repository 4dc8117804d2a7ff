import type { Resource } from '@bowline/kubernetes';
import {
  SpiffeCSIDriver,
  SpireAgent,
  SpireOIDCDiscoveryProvider,
  SpireServer,
  ZeroTrustWorkloadIdentityManager,
} from '@bowline/ztwim';
import type { Api } from '../../support/api.ts';
import { MERGE_PATCH } from '../../support/requests.ts';

/** OPERANDS are the kinds that inherit from the ZeroTrustWorkloadIdentityManager. */
export const OPERANDS: readonly Resource[] = [SpireServer, SpireAgent, SpiffeCSIDriver, SpireOIDCDiscoveryProvider];

/** FIVE are the kinds of the five objects that a user creates. */
export const FIVE: readonly Resource[] = [ZeroTrustWorkloadIdentityManager, ...OPERANDS];

const SPEC = { trustDomain: 'example.io', jwtIssuer: 'https://oidc.example.io' };

/** collectionOf returns the path of the objects of a kind. */
export function collectionOf({ group, version, plural }: Resource): string {
  return `/apis/${group}/${version}/${plural}`;
}

/** CONFIG_PATH is the path of the ZeroTrustWorkloadIdentityManager. */
export const CONFIG_PATH = pathOf(ZeroTrustWorkloadIdentityManager);

/** pathOf returns the path of the object of a kind. */
export function pathOf(kind: Resource): string {
  return `${collectionOf(kind)}/cluster`;
}

/** clusterNameAt returns the cluster name after a number of changes; all of them have the same length. */
export function clusterNameAt(change: number): string {
  return `bench-${String(change).padStart(6, '0')}`;
}

/** createFive creates the five objects one after the other, as `kubectl apply` does. */
export async function createFive(api: Api): Promise<void> {
  for (const kind of FIVE) {
    const spec = kind === ZeroTrustWorkloadIdentityManager ? { ...SPEC, clusterName: clusterNameAt(0) } : {};
    const { group, version } = kind;
    await api.ok('POST', collectionOf(kind), {
      apiVersion: `${group}/${version}`,
      kind: kind.kind,
      metadata: { name: 'cluster' },
      spec,
    });
  }
}

/** patchConfig changes the ZeroTrustWorkloadIdentityManager. */
export async function patchConfig(api: Api, body: object): Promise<void> {
  await api.ok('PATCH', CONFIG_PATH, body, MERGE_PATCH);
}

/** uidsOf returns the uids of the five objects, by kind. */
export async function uidsOf(api: Api): Promise<ReadonlyMap<string, string>> {
  const uids = new Map<string, string>();
  for (const kind of FIVE) {
    const { metadata } = JSON.parse(await api.ok('GET', pathOf(kind))) as {
      readonly metadata: { readonly uid: string };
    };
    uids.set(kind.kind, metadata.uid);
  }
  return uids;
}

/** countOwned returns how many operands have the ZeroTrustWorkloadIdentityManager as their controller. */
export async function countOwned(api: Api): Promise<number> {
  const owner = (await uidsOf(api)).get(ZeroTrustWorkloadIdentityManager.kind);
  let owned = 0;
  for (const kind of OPERANDS) {
    const { metadata } = JSON.parse(await api.ok('GET', pathOf(kind))) as {
      readonly metadata: {
        readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[];
      };
    };
    if (metadata.ownerReferences?.some(({ uid, controller }) => controller && uid === owner)) owned += 1;
  }
  return owned;
}
