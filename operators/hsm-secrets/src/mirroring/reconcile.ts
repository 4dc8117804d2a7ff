import { keyString } from '@bowline/kubernetes';
import { formatTime, parseDuration } from '@bowline/machinery';
import type { ReconcileResult } from '@bowline/runtime';
import { HSMDevice } from '../api/hsm-device.ts';
import type { PoolStatus } from '../api/hsm-pool.ts';
import { poolName } from '../api/names.ts';
import { usedBy } from '../api/used-device.ts';
import { type MirrorResult, mirrorDevices } from '../mirror/mirror-devices.ts';
import { choosePrimary, type PrimaryChoice } from '../mirror/primary.ts';
import type { TokenService } from '../token/token-service.ts';
import type { MirrorContext } from './controller.ts';

type MirroringStatus = NonNullable<PoolStatus['mirroring']>;

const DEFAULTS = { policy: 'None', syncInterval: 60, autoFailover: true } as const;

/** A write through the API takes at most that many calls of agents, one after the other. */
const CALLS_PER_WRITE = 3;

/** reconcile chooses the primary device of a pool, and makes the devices equal as its policy requires. */
export async function reconcile(context: MirrorContext): Promise<ReconcileResult> {
  const { object, key, get, deps } = context;
  const name = object.spec.hsmDeviceRef;
  const device = get(HSMDevice, { namespace: key.namespace, name });
  // Other pools for the same HSMDevice only show reports.
  if (!device || key.name !== poolName(name)) return undefined;
  const tokens = new Map(
    deps.agents
      .agentsOf({ namespace: key.namespace, name })
      .map(({ serialNumber, service }) => [serialNumber, service]),
  );
  const choice = chooseIn(context, device);
  const { policy, syncInterval } = { ...DEFAULTS, ...object.spec.mirroring };
  if (policy === 'None') {
    report(context, choice, undefined);
    return undefined;
  }
  const waitMs = waitBefore(context, choice, tokens, syncInterval * 1_000);
  if (waitMs > 0) {
    report(context, choice, undefined);
    return { requeueAfterMs: waitMs };
  }
  const result = await compare(context, choice, tokens);
  report(context, choice, result);
  return { requeueAfterMs: syncInterval * 1_000 };
}

function chooseIn({ object, key, deps }: MirrorContext, device: HSMDevice): PrimaryChoice {
  const { mirroring, aggregatedDevices = [] } = object.status ?? {};
  const { policy, autoFailover, primaryNode, targetNodes } = {
    ...DEFAULTS,
    primaryNode: undefined,
    targetNodes: undefined,
    ...object.spec.mirroring,
  };
  const synced = deps.mirrorRounds.last(keyString(key))?.synced;
  const incumbent = mirroring?.primarySerial;
  const isTrusted = (serial: string): boolean => incumbent === undefined || serial === incumbent;
  return choosePrimary({
    policy,
    autoFailover,
    primaryNode,
    targetNodes,
    devices: usedBy(aggregatedDevices, device.spec.maxDevices).map(({ serialNumber, nodeName, available }) => ({
      serial: serialNumber,
      nodeName,
      available,
      // Until the devices were compared, only the current primary device is known to have everything.
      isSynced: policy === 'None' || (synced?.has(serialNumber) ?? isTrusted(serialNumber)),
    })),
    incumbent,
    failoverCount: mirroring?.failoverCount,
  });
}

/** waitBefore returns how long the next comparison has to wait; 0 if it is due. */
function waitBefore(
  { key, clock, deps }: MirrorContext,
  choice: PrimaryChoice,
  tokens: ReadonlyMap<string, unknown>,
  intervalMs: number,
): number {
  const pool = keyString(key);
  const now = clock.now();
  const last = deps.mirrorRounds.last(pool);
  const requestedAt = deps.mirrorRounds.requestedAt(pool);
  if (requestedAt !== undefined) return Math.max(0, requestedAt + parseDuration(deps.config.mirror.debounce) - now);
  if (!last || last.reachable !== reachableIn(choice, tokens)) return 0;
  return Math.max(0, last.at + intervalMs - now);
}

function reachableIn({ participants }: PrimaryChoice, tokens: ReadonlyMap<string, unknown>): string {
  return participants.filter((serial) => tokens.has(serial)).join();
}

async function compare(
  { object, key, clock, deps, signal }: MirrorContext,
  choice: PrimaryChoice,
  tokens: ReadonlyMap<string, TokenService>,
): Promise<MirrorResult> {
  const { policy } = { ...DEFAULTS, ...object.spec.mirroring };
  const at = clock.now();
  const devices = { policy, primary: choice.primary, expected: choice.participants, tokens };
  const writeMs = CALLS_PER_WRITE * parseDuration(deps.config.agent.callTimeout);
  const result = await mirrorDevices(devices, { clock, writeMs, signal });
  deps.mirrorRounds.complete(keyString(key), {
    at,
    synced: new Set(result.inSync),
    reachable: reachableIn(choice, tokens),
  });
  return result;
}

/** report writes the state of mirroring. Its time changes only when something was copied or removed. */
function report(context: MirrorContext, choice: PrimaryChoice, result: MirrorResult | undefined): void {
  const { object, status, event, clock, deps } = context;
  const previous = object.status?.mirroring;
  const { policy } = { ...DEFAULTS, ...object.spec.mirroring };
  const hasChanged = result !== undefined && (result.synced > 0 || result.purged > 0);
  const next: MirroringStatus = {
    enabled: policy !== 'None',
    primarySerial: choice.primary,
    primaryNode: choice.primaryNode,
    ...(policy === 'None' ? {} : { mirroredNodes: choice.mirroredNodes }),
    lastSyncTime: hasChanged ? formatTime(clock.now()) : previous?.lastSyncTime,
    failoverCount: choice.failoverCount,
    syncErrors: result ? result.errors.map((error) => error.slice(0, 1024)) : (previous?.syncErrors ?? []),
  };
  if (choice.primary !== undefined || previous !== undefined) status.set({ mirroring: next });
  if (!result) return;
  deps.metrics.mirrored(result);
  const diverged = [...result.paths].filter(([, { hasConflict }]) => hasConflict).map(([path]) => path);
  for (const path of diverged.slice(0, 20)) {
    const message = `the devices have different content for ${path}; mirroring copies one of them to the others`;
    event('Warning', 'DevicesDiverged', message);
  }
}
