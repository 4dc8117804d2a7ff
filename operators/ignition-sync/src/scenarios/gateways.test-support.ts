import { ConfigMap, Pod, RoleBinding, ServiceAccount } from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { isForbidden } from '@bowline/runtime/client';
import { expect } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, INJECTION_ANNOTATIONS, objectNames, POD_ANNOTATIONS } from '../api/names.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import { encodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { decodeMetadata, type SyncMetadata } from '../protocol/metadata.ts';
import type { RolloutPlan } from '../protocol/rollout-plan.ts';
import type { ControllerScenario } from './controller.test-support.ts';

/** GatewayOptions configures the pod of a gateway. */
export interface GatewayOptions {
  readonly annotations?: Partial<Record<keyof typeof POD_ANNOTATIONS, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly serviceAccount?: string;
  /** Defaults to the node that the scheduler chooses. */
  readonly node?: string;
  /** Whether no node is suitable, so that the pod stays Pending. Defaults to false. */
  readonly isUnschedulable?: boolean;
}

/** createGateway creates a pod with an agent, as the injection webhook would. */
export async function createGateway(
  c: ControllerScenario,
  name: string,
  cr: string,
  { annotations = {}, labels = {}, serviceAccount, node, isUnschedulable = false }: GatewayOptions = {},
): Promise<void> {
  const all = { inject: 'true', crName: cr, servicePath: '.', ...annotations };
  const named = Object.entries(all).map(([id, value]) => [POD_ANNOTATIONS[id as keyof typeof POD_ANNOTATIONS], value]);
  await c.admin.create(Pod, {
    metadata: {
      ...c.key(name),
      labels,
      annotations: { ...Object.fromEntries(named), [INJECTION_ANNOTATIONS.injected]: 'true' },
    },
    spec: {
      initContainers: [{ name: AGENT_CONTAINER, image: 'agent', restartPolicy: 'Always' }],
      containers: [{ name: 'gateway', image: 'ignition' }],
      terminationGracePeriodSeconds: 0,
      ...(serviceAccount === undefined ? {} : { serviceAccountName: serviceAccount }),
      ...(node === undefined ? {} : { nodeName: node }),
      ...(isUnschedulable ? { nodeSelector: { 'example.com/no-node': 'has-this-label' } } : {}),
    },
  });
}

/** runGateways creates gateways and waits until they run. */
export async function runGateways(
  c: ControllerScenario,
  names: readonly string[],
  cr: string,
  options: (name: string) => GatewayOptions = () => ({}),
): Promise<void> {
  await Promise.all(names.map((name) => createGateway(c, name, cr, options(name))));
  for (const name of names) await c.until(Pod, c.key(name), ({ status }) => status?.phase === 'Running');
}

/** createAccount creates a ServiceAccount for gateways. */
export async function createAccount(c: ControllerScenario, name: string): Promise<void> {
  await c.admin.create(ServiceAccount, { metadata: c.key(name) });
}

/** boundAccounts returns the ServiceAccounts that may act as agents of an IgnitionSync. */
export async function boundAccounts(c: ControllerScenario, cr: string): Promise<readonly string[]> {
  const { subjects = [] } = await c.admin.get(RoleBinding, c.key(objectNames(cr).agent));
  return subjects.map(({ name }) => name);
}

/** untilPlan advances the time of the operator until the plan for agents passes a test. */
export async function untilPlan(
  c: ControllerScenario,
  cr: string,
  test: (plan: RolloutPlan) => boolean,
): Promise<RolloutPlan> {
  let plan: RolloutPlan = {};
  const passes = async (): Promise<boolean> => {
    // Further steps of a plan are written once a second.
    await c.advanceTime(500);
    ({ plan } = await c.metadata(cr));
    return test(plan);
  };
  await expect.poll(passes).toBe(true);
  return plan;
}

/** untilSync advances the time of the operator until an IgnitionSync passes a test: details are written once a second. */
export async function untilSync(
  c: ControllerScenario,
  cr: string,
  test: (sync: IgnitionSync) => boolean,
): Promise<IgnitionSync> {
  let sync = await c.admin.get(IgnitionSync, c.key(cr));
  const passes = async (): Promise<boolean> => {
    await c.advanceTime(500);
    sync = await c.admin.get(IgnitionSync, c.key(cr));
    return test(sync);
  };
  await expect.poll(passes).toBe(true);
  return sync;
}

/** messageOf returns the message of a condition. Empty: the condition does not exist. */
export function messageOf(sync: IgnitionSync, type: string): string {
  return findCondition(sync, type)?.message ?? '';
}

/** Agent acts as the agent of a gateway, with the identity of its pod. */
export interface Agent {
  /** metadata reads what the controller has written for agents. */
  metadata(): Promise<SyncMetadata>;
  /** report waits until the agent may sync, and reports about that state. */
  report(report?: Partial<GatewayReport>): Promise<void>;
  /** write writes any text as the report. */
  write(text: string): Promise<void>;
}

/** agentOf returns the agent of a gateway. It waits until its pod may exchange state with the controller. */
export async function agentOf(c: ControllerScenario, pod: string, cr: string): Promise<Agent> {
  const { spec } = await c.admin.get(Pod, c.key(pod));
  const serviceAccount = { namespace: c.namespace, name: spec?.serviceAccountName ?? 'default' };
  const client = await c.clientFor({ serviceAccount, pod });
  const names = objectNames(cr);
  const metadata = async (): Promise<SyncMetadata> => {
    const { data } = await client.get(ConfigMap, c.key(names.metadata));
    return decodeMetadata(data);
  };
  const write = async (text: string): Promise<void> => {
    const key = (await metadata()).plan[pod]?.key ?? pod;
    await client.patch(ConfigMap, c.key(names.status), { type: 'merge', body: { data: { [key]: text } } });
  };
  await expect.poll(() => canRead(metadata)).toBe(true);
  return {
    metadata,
    write,
    async report(report = {}) {
      let known = await metadata();
      if (desiredHash(known, pod) === undefined) {
        await untilPlan(c, cr, (plan) => desiredHash({ ...known, plan }, pod) !== undefined);
        known = await metadata();
      }
      const { commit, ref } = known.plan[pod] ?? {};
      const synced = report.syncStatus === undefined ? { syncedCommit: commit, syncedRef: ref } : {};
      const appliedHash = desiredHash(known, pod);
      await write(encodeReport({ syncStatus: 'Synced', appliedHash, ...synced, ...report }));
    },
  };
}

async function canRead(metadata: () => Promise<SyncMetadata>): Promise<boolean> {
  try {
    await metadata();
    return true;
  } catch (error) {
    // Authorizers learn of a new binding after a moment, and the ConfigMap is written when a commit is known.
    if (isForbidden(error) || (error instanceof Error && 'status' in error && error.status === 404)) return false;
    throw error;
  }
}
