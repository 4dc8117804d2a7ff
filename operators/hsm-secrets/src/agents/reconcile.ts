import { apiVersionOf, DaemonSet, Deployment, keyString, type ObjectKey, Secret } from '@bowline/kubernetes';
import { forEachConcurrently } from '@bowline/machinery';
import type { ReconcileResult } from '@bowline/runtime';
import { HSMDevice } from '../api/hsm-device.ts';
import { agentName, LABELS, poolName } from '../api/names.ts';
import { type UsedDevice, usedBy } from '../api/used-device.ts';
import { deviceKey } from '../pool/controller.ts';
import { trimmedPin } from '../token/pin/pin-source.ts';
import { type AgentCheck, type CurrentPin, checkAgent } from './check-agent.ts';
import { type AgentsContext, isGuarded } from './controller.ts';
import { desiredAgent } from './desired.ts';
import { gateProblem, hasAgents } from './plan-agents.ts';
import { type AgentFacts, type AgentRow, agentConditions } from './status.ts';

/** An agent that is not ready is asked again after this time, even if its pod does not change. */
const CHECK_INTERVAL_MS = 30_000;
/** How many agents of a pool are asked at the same time. */
const MAX_CONCURRENT_CHECKS = 8;
/** The reason of a pod whose node has no such device at the moment. */
const REJECTED = 'UnexpectedAdmissionError';

/** reconcile keeps one agent for each device of a pool, and reports their state. */
export async function reconcile(context: AgentsContext): Promise<ReconcileResult> {
  const { object, key, get } = context;
  const device = get(HSMDevice, { namespace: key.namespace, name: object.spec.hsmDeviceRef });
  // Other pools for the same HSMDevice only show reports.
  if (!device || key.name !== poolName(object.spec.hsmDeviceRef)) return undefined;
  const agents = hasAgents(device);
  if (agents !== true) {
    await removeOthers(context, new Set());
    return report(context, { absence: agents, rows: [], pinProblem: undefined });
  }
  const used = usedBy(object.status?.aggregatedDevices ?? [], device.spec.maxDevices);
  const pinProblem = await findPinProblem(context, device);
  const deferrals = await writeAgents(context, device, used, pinProblem !== undefined);
  const rows = await checkAgents(context, device, used, deferrals);
  return report(context, { absence: undefined, rows, pinProblem });
}

/** findPinProblem returns what is wrong with the Secret of the PIN. */
async function findPinProblem(context: AgentsContext, device: HSMDevice): Promise<AgentFacts['pinProblem']> {
  const { name = '', key = '', namespace } = device.spec.pkcs11?.pinSecret ?? {};
  if (namespace !== undefined && namespace !== context.key.namespace) {
    const message = `pkcs11.pinSecret.namespace is ${namespace}, but the Secret of the PIN must be in the namespace of the HSMDevice`;
    return { reason: 'CrossNamespacePIN', message };
  }
  // The cache keeps no values and no keys of Secrets. The Secret is read when it has changed, or an agent is missing.
  const secret = await context.live.find(Secret, { namespace: context.key.namespace, name });
  if (!secret)
    return { reason: 'PINSecretMissing', message: `the Secret ${name} does not exist; create it with the key ${key}` };
  if (!secret.data?.[key])
    return { reason: 'PINKeyMissing', message: `the Secret ${name} has no key ${key}; add the PIN to it` };
  return undefined;
}

/** writeAgents creates, moves and removes agents. It returns why some of them do not exist yet, by serial number. */
async function writeAgents(
  context: AgentsContext,
  device: HSMDevice,
  used: readonly UsedDevice[],
  lacksPin: boolean,
): Promise<ReadonlyMap<string, string>> {
  const { key, get, apply, deps } = context;
  const owner = { namespace: key.namespace, name: device.metadata?.name ?? '' };
  const image = device.spec.image ?? deps.agentImage;
  const deferrals = new Map<string, string>();
  const guarded = isGuarded(context.object) || deps.config.allowUnguardedReports;
  await removeRejected(context, owner);
  for (const row of used) {
    const agent = { namespace: key.namespace, name: agentName(owner.name, row.serialNumber) };
    const existing = get(Deployment, agent);
    const defer = (problem: string): unknown => deferrals.set(row.serialNumber, problem);
    if (image === undefined) defer('the image is not known; set spec.image, or the setting image of the operator');
    else if (!existing && lacksPin) defer('the PIN does not exist');
    else if (!guarded && (!existing || isMoved(existing, row)))
      defer('reports are not guarded by the admission policies, so no node gets the PIN');
    else {
      const problem = existing ? undefined : creationProblem(context, row, agent);
      if (problem) defer(problem);
      else await apply(Deployment, desiredAgent(device, owner, row, image));
    }
  }
  // An unguarded report could have removed a device.
  if (guarded)
    await removeOthers(context, new Set(used.map(({ serialNumber }) => agentName(owner.name, serialNumber))));
  return deferrals;
}

function isMoved({ spec }: Deployment, { nodeName }: UsedDevice): boolean {
  const terms = spec?.template.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !terms?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.includes(nodeName);
}

function creationProblem(context: AgentsContext, row: UsedDevice, agent: ObjectKey): string | undefined {
  const { key, list, deps, object } = context;
  const index = deviceKey(key.namespace, object.spec.hsmDeviceRef);
  const waitMs = deps.rejections.waitMs(keyString(agent));
  if (waitMs > 0) {
    context.enqueue(key, { afterMs: waitMs });
    return `kubelet rejected its pod on ${row.nodeName}; it is created again after a while`;
  }
  const [daemonSet] = list(DaemonSet, { by: { device: index } });
  return gateProblem(row.nodeName, list('discovery-pods', { by: { device: index } }), daemonSet);
}

/** removeRejected deletes agents whose pods kubelet has rejected: their ReplicaSet would create one after the other. */
async function removeRejected({ list, remove, deps }: AgentsContext, device: ObjectKey): Promise<void> {
  const pods = list('agent-pods', { by: { device: deviceKey(device.namespace, device.name) } });
  for (const name of new Set(pods.map(({ serialNumber }) => agentName(device.name, serialNumber)))) {
    const agent = { namespace: device.namespace, name };
    const own = pods.filter(({ serialNumber }) => agentName(device.name, serialNumber) === name);
    if (own.some(({ isRunning }) => isRunning)) deps.rejections.clear(keyString(agent));
    else if (own.some(({ failureReason }) => failureReason === REJECTED)) {
      const { outcome } = await remove(Deployment, agent);
      if (outcome === 'deleted') deps.rejections.record(keyString(agent));
    }
  }
}

/** removeOthers removes the agents of devices that the pool no longer has. */
async function removeOthers({ key, object, list, remove }: AgentsContext, kept: ReadonlySet<string>): Promise<void> {
  for (const { metadata } of list(Deployment, { namespace: key.namespace })) {
    const isOfPool = metadata.labels?.[LABELS.device] === object.spec.hsmDeviceRef;
    if (isOfPool && !kept.has(metadata.name))
      await remove(Deployment, { namespace: key.namespace, name: metadata.name });
  }
}

async function checkAgents(
  context: AgentsContext,
  device: HSMDevice,
  used: readonly UsedDevice[],
  deferrals: ReadonlyMap<string, string>,
): Promise<readonly AgentRow[]> {
  const { key, object, deps, signal } = context;
  const owner = { namespace: key.namespace, name: device.metadata?.name ?? '' };
  const previous = new Map((object.status?.agents ?? []).map((row) => [row.serialNumber, row]));
  const agents = new Map(deps.agents.agentsOf(owner).map((agent) => [agent.serialNumber, agent]));
  const checks = new Map<string, AgentCheck>();
  const check = async ({ serialNumber }: UsedDevice): Promise<void> => {
    const agent = agents.get(serialNumber);
    if (!agent) return;
    const refusedPin = previous.get(serialNumber)?.refusedPin;
    const isRetryDue = deps.pinRetries.delete(`${agent.podUID} ${refusedPin}`);
    const result = await checkAgent(agent, { refusedPin, isRetryDue, readPin: () => readPin(context, device), signal });
    if (result.wantsRetry) {
      // The next run tries it: by then the status has the version.
      deps.pinRetries.add(`${agent.podUID} ${result.refusedPin}`);
      context.enqueue(key);
    }
    if (result.wasProvisioned) reportProvisioned(context, device, serialNumber);
    checks.set(serialNumber, result);
  };
  const [failure] = await forEachConcurrently(used, MAX_CONCURRENT_CHECKS, check, { signal });
  if (failure) throw failure.error;
  return used.map(({ serialNumber, nodeName }): AgentRow => {
    const { isReady, ...found }: AgentCheck = checks.get(serialNumber) ?? { isReady: false };
    const deferral = deferrals.get(serialNumber);
    const reason = isReady ? undefined : (found.reason ?? (deferral === undefined ? 'AgentNotReady' : 'AgentDeferred'));
    const message = isReady ? undefined : (found.message ?? deferral ?? 'the agent is starting');
    const { tokenLabel, tokenSerial, refusedPin } = found;
    return {
      serialNumber,
      nodeName,
      deployment: agentName(owner.name, serialNumber),
      ready: isReady,
      ...(reason === undefined ? {} : { reason, message: message?.slice(0, 1024) }),
      ...(tokenLabel === undefined ? {} : { tokenLabel: tokenLabel.slice(0, 32) }),
      ...(tokenSerial === undefined ? {} : { tokenSerial }),
      ...(refusedPin === undefined || isReady ? {} : { refusedPin }),
    };
  });
}

/** An agent reports this as long as it runs. */
function reportProvisioned({ eventAbout }: AgentsContext, device: HSMDevice, serialNumber: string): void {
  const { namespace, name = '', uid = '' } = device.metadata ?? {};
  const subject = { apiVersion: apiVersionOf(HSMDevice), kind: HSMDevice.kind, metadata: { namespace, name, uid } };
  const message = `initialized the blank token of the device ${serialNumber}, as pkcs11.autoProvision requests`;
  eventAbout(subject, 'Warning', 'TokenProvisioned', message);
}

async function readPin({ key, live }: AgentsContext, device: HSMDevice): Promise<CurrentPin | undefined> {
  const { pinSecret } = device.spec.pkcs11 ?? {};
  if (!pinSecret) return undefined;
  const secret = await live.find(Secret, { namespace: key.namespace, name: pinSecret.name });
  const text = secret?.data?.[pinSecret.key];
  if (!text) return undefined;
  return { version: secret?.metadata?.resourceVersion ?? '', value: trimmedPin(Buffer.from(text, 'base64')) };
}

function report({ object, status, event, deps, key }: AgentsContext, facts: AgentFacts): ReconcileResult {
  const { rows, pinProblem } = facts;
  if (rows.length > 0 || object.status?.agents !== undefined) status.set({ agents: rows });
  const conditions = agentConditions(facts);
  for (const { type, status: value, reason, message } of conditions) {
    if (value === undefined) status.removeCondition(type);
    else status.condition(type, value, reason, message);
  }
  for (const { serialNumber, reason, message } of rows)
    if (reason === 'AgentDeferred') event('Warning', 'AgentDeferred', `${serialNumber} has no agent yet: ${message}`);
  const pin = conditions.find(({ type, status: value }) => type === 'PINAvailable' && value === false);
  if (pin) event('Warning', 'PINUnavailable', `${pin.reason}: ${pin.message}`);
  deps.metrics.recordAgents(keyString(key), rows);
  return rows.some(({ ready, reason }) => !ready && reason !== 'AgentDeferred') && !pinProblem
    ? { requeueAfterMs: CHECK_INTERVAL_MS }
    : undefined;
}
