import { keyString, Secret } from '@bowline/kubernetes';
import { findCondition, type ReconcileResult } from '@bowline/runtime';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { poolName } from '../api/names.ts';
import type { StoredSecret } from '../token/token-service.ts';
import { tokenErrorOf } from './checksum-rounds.ts';
import { FORCE_SYNC_ANNOTATION, type SecretContext, secretsOn } from './controller.ts';
import {
  giveUp,
  modifiedOnWrite,
  type ObservedSecret,
  observeSecret,
  obstacleTo,
  secretNameOf,
  type Written,
  writeSecret,
} from './delivered-secret.ts';
import { type Delivery, desiredMetadata, desiredSecret, requestHash } from './desired.ts';
import { sourcesOf } from './device-sources.ts';
import { type AnsweredDevice, chooseSource, type DeviceStates, notFound, observeDevices } from './observe-devices.ts';
import { permissionProblem } from './permit.ts';
import { SyncProblem } from './problem.ts';
import { pathOf, resolveDevice } from './resolve-device.ts';
import { lastDue, scheduleOf, untilNextDue } from './schedule.ts';
import { conditionsOf, fieldsOf, type SyncFacts } from './status.ts';

/** After a failure, a device is asked again at the latest after this time. */
const MAX_RETRY_MS = 30_000;

/** Values of the annotation are stored in the status up to this length. */
const MAX_FORCE_SYNC_LENGTH = 1_024;

/** reconcile delivers a secret from a device into a Secret. */
export async function reconcile(context: SecretContext): Promise<ReconcileResult> {
  const { object, key, clock } = context;
  const target = findTarget(context);
  const facts = await sync(context, target);
  report(context, facts);
  if (!object.spec.autoSync && !facts.problem) return undefined;
  const intervalMs = object.spec.syncInterval * 1_000;
  const device = facts.device ? keyString(facts.device) : keyString(key);
  const schedule = scheduleOf(device, facts.problem ? Math.min(intervalMs, MAX_RETRY_MS) : intervalMs);
  return { requeueAfterMs: untilNextDue(schedule, clock.monotonic()) };
}

/** SyncResult is what a run found out, and what it wrote. */
interface SyncResult extends SyncFacts {
  readonly written?: Written | undefined;
}

interface Target extends Delivery {
  readonly resource: HSMDevice;
}

function findTarget({ object, key, get, list, deps }: SecretContext): Target | SyncProblem {
  const namespace = key.namespace ?? '';
  const resource = resolveDevice(object, {
    get: (each) => get(HSMDevice, each),
    in: (each) => list(HSMDevice, { namespace: each }),
    defaultDevice: deps.config.defaultDevice,
  });
  if (resource instanceof SyncProblem) return resource;
  const device = { namespace: resource.metadata?.namespace ?? '', name: resource.metadata?.name ?? '' };
  const path = pathOf(object, device.namespace);
  return permissionProblem(resource, { namespace, path }) ?? { object, device, path, resource };
}

async function sync(context: SecretContext, target: Target | SyncProblem): Promise<SyncResult> {
  const { object, key } = context;
  const base = { namespace: key.namespace ?? '', secretName: secretNameOf(object) };
  await removeFormer(context, base.secretName);
  if (target instanceof SyncProblem) return { ...base, problem: target };
  const { device, path } = target;
  const observed = await observeSecret(context);
  const facts = { ...base, device, path };
  const obstacle = obstacleTo(context, observed);
  if (obstacle) return { ...facts, problem: obstacle };
  const forceSync = pendingForceSync(context);
  if (!isDue(context, forceSync)) return { ...facts, problem: driftOf(observed) };
  const devices = await askDevices(context, target, forceSync !== undefined);
  const source = chooseSource(path, devices);
  if (source instanceof SyncProblem) {
    const hasAnswer = source.reason === 'NotFound';
    return { ...facts, devices, problem: source, ...(hasAnswer ? { handledForceSync: forceSync } : {}) };
  }
  const delivered = await deliver(context, { target, observed, source, isForced: forceSync !== undefined });
  return { ...facts, devices, ...delivered, handledForceSync: forceSync };
}

function askDevices(context: SecretContext, target: Target, isForced: boolean): Promise<DeviceStates> {
  const { object, get, deps, clock } = context;
  const { device, path, resource } = target;
  const pool = get(HSMPool, { namespace: device.namespace, name: poolName(device.name) });
  const sources = sourcesOf(resource, pool, deps.agents.agentsOf(device));
  const schedule = scheduleOf(keyString(device), object.spec.syncInterval * 1_000);
  return observeDevices(sources, deps.checksums, {
    path,
    since: isForced || !object.spec.autoSync ? undefined : lastDue(schedule, clock.monotonic()),
    paths: () =>
      secretsOn(context, keyString(device))
        .filter(({ spec }) => spec.autoSync)
        .map((secret) => pathOf(secret, device.namespace)),
  });
}

interface DeliveryWork {
  readonly target: Target;
  readonly observed: ObservedSecret;
  readonly source: AnsweredDevice;
  readonly isForced: boolean;
}

/** deliver writes the Secret, and reads the values only if the Secret does not have them. */
async function deliver(
  context: SecretContext,
  work: DeliveryWork,
): Promise<Pick<SyncResult, 'problem' | 'delivered' | 'written'>> {
  const { target, observed, source, isForced } = work;
  if (!isForced && isUpToDate(target, observed, source)) {
    return conclude(await writeSecret(context, observed, desiredMetadata(target, source.checksum)), source.checksum);
  }
  const { view } = observed;
  if (!isForced && view && isKeptModified(context, work)) return { problem: modifiedOnWrite(view.name) };
  const stored = await read(context, target.path, source);
  if (stored instanceof SyncProblem) return { problem: stored };
  const desired = desiredSecret(target, stored);
  if (desired instanceof SyncProblem) return { problem: desired };
  return conclude(await writeSecret(context, observed, desired), stored.checksum);
}

function conclude(
  written: Written | SyncProblem,
  deviceChecksum: string,
): Pick<SyncResult, 'problem' | 'delivered' | 'written'> {
  if (written instanceof SyncProblem) return { problem: written };
  const { hash: secretChecksum, writtenAt } = written;
  return { written, delivered: { deviceChecksum, secretChecksum, writtenAt } };
}

function isUpToDate(target: Target, { view }: ObservedSecret, { checksum }: AnsweredDevice): boolean {
  return view !== undefined && view.hash === view.appliedHash && hasSource(target, { view }, checksum);
}

function hasSource(target: Target, { view }: ObservedSecret, checksum: string): boolean {
  const { request, deviceChecksum } = view?.operatorAnnotations ?? {};
  return request === requestHash(target) && deviceChecksum === checksum;
}

/** A Secret that a webhook changed is written again only if there is other content to write. */
function isKeptModified({ key, deps }: SecretContext, { target, observed, source }: DeliveryWork): boolean {
  const modifiedHash = deps.modifiedSecrets.get(keyString(key));
  return modifiedHash === observed.view?.hash && hasSource(target, observed, source.checksum);
}

async function read(
  { deps, signal }: SecretContext,
  path: string,
  { agent, serialNumber }: AnsweredDevice,
): Promise<StoredSecret | SyncProblem> {
  try {
    const stored = await agent.service.read(path, signal);
    const { metadata, checksum, data } = stored;
    const { version, timestamp, isDeleted } = metadata;
    await deps.checksums.record(agent, { path, version, timestamp, isDeleted, checksum, keys: Object.keys(data) });
    return stored;
  } catch (error) {
    signal.throwIfAborted();
    const { problem, message } = tokenErrorOf(error);
    if (problem === 'NotFound') return notFound(path, serialNumber);
    return new SyncProblem('AgentFailed', `the agent of the device ${serialNumber} failed: ${message}`);
  }
}

/** removeFormer gives up the Secrets that were delivered under other names. */
async function removeFormer(context: SecretContext, secretName: string): Promise<void> {
  const { object, key, list } = context;
  const former = list(Secret, { by: { owner: keyString(key) } }).filter(({ name }) => name !== secretName);
  for (const { name } of former) await giveUp(context, name, { delete: object.spec.deletionPolicy === 'Delete' });
}

/** pendingForceSync returns the value of the annotation that was not handled yet. */
function pendingForceSync({ object }: SecretContext): string | undefined {
  const value = object.metadata.annotations?.[FORCE_SYNC_ANNOTATION]?.slice(0, MAX_FORCE_SYNC_LENGTH);
  return value === object.status?.lastHandledForceSync ? undefined : value;
}

/** isDue reports whether the device is asked. Without autoSync, a secret is delivered once for each spec. */
function isDue({ object }: SecretContext, forceSync: string | undefined): boolean {
  const { metadata, spec, status } = object;
  if (spec.autoSync || forceSync !== undefined || status?.observedGeneration !== metadata.generation) return true;
  const synced = findCondition(object, 'Synced');
  return synced?.status !== 'True' && synced?.reason !== 'OutOfSync';
}

function driftOf({ view }: ObservedSecret): SyncProblem | undefined {
  if (view && view.hash === view.appliedHash) return undefined;
  const state = view ? 'was changed' : 'was deleted';
  return new SyncProblem(
    'OutOfSync',
    `the Secret ${state}, and spec.autoSync is false; set the annotation ${FORCE_SYNC_ANNOTATION} to a new value to deliver it again`,
  );
}

const CONTENT_OUTCOMES: ReadonlySet<Written['outcome'] | undefined> = new Set([
  'created',
  'recreated',
  'updated',
  'repaired',
]);

function report({ object, key, status, event, deps }: SecretContext, facts: SyncResult): void {
  const { problem, written, secretName, path } = facts;
  const hasWritten = CONTENT_OUTCOMES.has(written?.outcome);
  status.set(fieldsOf(facts));
  for (const { type, status: value, reason, message } of conditionsOf(facts)) {
    if (value !== undefined) status.condition(type, value, reason, message);
  }
  // A device or agent that does not exist yet is not a failure: the condition shows what the secret waits for.
  if (problem && problem.reason !== 'NoAgent') event('Warning', 'SyncFailed', `${problem.reason}: ${problem.message}`);
  if (!problem && hasWritten) event('Normal', 'SecretSynced', `delivered ${path} to the Secret ${secretName}`);
  deps.metrics.secretSynced(problem ? 'failed' : hasWritten ? 'synced' : 'unchanged');
  deps.metrics.recordSecret(keyString(key), facts.delivered?.writtenAt ?? object.status?.lastSyncTime);
}
