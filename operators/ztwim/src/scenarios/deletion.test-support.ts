import { DaemonSet, Deployment, keyString, StatefulSet } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/core-v1';
import type { CustomResource } from '@bowline/runtime/resource';
import { expect } from 'vitest';
import { SINGLETON } from '../api/names.ts';
import { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import { OPERAND_RESOURCES } from '../operand/operand-kind.ts';
import { AGENT, CSI_DRIVER, OIDC_PROVIDER, SERVER } from '../spire/names.ts';
import { COMPLETE, OPERANDS, type Specs, type ZtwimCluster } from '../testing/ztwim-cluster.test-support.ts';

/** KEY is the key of each of the five objects. */
export const KEY = { name: SINGLETON };

/** FIVE are the five kinds, consumers first. */
export const FIVE: readonly CustomResource[] = [
  OPERAND_RESOURCES.SpireOIDCDiscoveryProvider,
  OPERAND_RESOURCES.SpiffeCSIDriver,
  OPERAND_RESOURCES.SpireAgent,
  OPERAND_RESOURCES.SpireServer,
  ZeroTrustWorkloadIdentityManager,
];

/** IN_ORDER are the workloads in the order in which they must be deleted. */
export const IN_ORDER = [
  `deployments ${OPERANDS}/${OIDC_PROVIDER}`,
  `daemonsets ${OPERANDS}/${CSI_DRIVER}`,
  `daemonsets ${OPERANDS}/${AGENT}`,
  `statefulsets ${OPERANDS}/${SERVER}`,
];

/** start creates the five objects and waits until all of them are ready. */
export async function start(c: ZtwimCluster, deletion: object = {}, specs: Specs = {}): Promise<void> {
  await c.createAll({ parent: { ...COMPLETE, deletion }, ...specs });
  await c.untilReason(ZeroTrustWorkloadIdentityManager, 'Ready', 'Ready');
  await c.idle();
}

/** untilNone waits until none of the five objects is left. */
export async function untilNone(c: ZtwimCluster): Promise<void> {
  for (const kind of FIVE) await c.untilRemoved(kind);
  await c.idle();
}

/** deleteAll deletes those of the five objects that exist, and waits until nothing of them is left. */
export async function deleteAll(c: ZtwimCluster): Promise<void> {
  // The parent is last, so that none of them waits for another one.
  for (const kind of FIVE) if (await c.admin.find(kind, KEY)) await c.admin.delete(kind, KEY);
  await untilNone(c);
  await expect.poll(() => workloadsLeft(c), { timeout: 60_000 }).toEqual([]);
}

/** deletedWorkloads returns the workloads in the order in which the operator requested their deletion. */
export async function deletedWorkloads(c: ZtwimCluster, since: number): Promise<readonly string[]> {
  return (await c.writes(since))
    .filter((write) => /^delete (?:deployments|daemonsets|statefulsets) /.test(write))
    .map((write) => write.replace('delete ', ''));
}

/** workloadsLeft returns the workloads that exist. */
export async function workloadsLeft(c: ZtwimCluster): Promise<readonly string[]> {
  const kinds = [StatefulSet, DaemonSet, Deployment] as const;
  const names = await Promise.all(
    kinds.map(async (kind) => (await c.admin.list(kind as typeof StatefulSet, { namespace: OPERANDS })).items),
  );
  return names.flat().map(({ metadata }) => keyString({ name: metadata?.name ?? '' }));
}

/** untilEvent waits for an event about one of the five objects whose message contains a text, and returns the message. */
export async function untilEvent(c: ZtwimCluster, kind: string, reason: string, text = ''): Promise<string> {
  const find = (events: readonly Event[]) =>
    events.find(
      (event) => event.involvedObject.kind === kind && event.reason === reason && event.message?.includes(text),
    );
  const events = await c.untilList(Event, { namespace: 'default' }, (found) => find(found) !== undefined);
  return find(events)?.message ?? '';
}

/** advancePast advances the operator's time to a number of seconds after a deletion that has just been requested. */
export async function advancePast(c: ZtwimCluster, seconds: number): Promise<void> {
  await c.idle();
  // A deletionTimestamp has full seconds, and the operator's clock is behind the API server's.
  const ms = Math.max(1, Date.now() + (seconds + 1) * 1_000 - c.clock.now());
  await c.advanceTime(ms, ms / 5);
}
