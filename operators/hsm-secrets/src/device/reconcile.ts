import { DaemonSet, keyString, NetworkPolicy, RoleBinding, Secret, ServiceAccount } from '@bowline/kubernetes';
import { BowlineError, describeProblems } from '@bowline/machinery';
import { type ReconcileResult, slow, terminal } from '@bowline/runtime';
import { isInvalid } from '@bowline/runtime/client';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { agentServerName, agentTlsName, discoveryName, labelsOf, poolName } from '../api/names.ts';
import type { DeviceContext } from './controller.ts';
import { desiredAccounts, desiredNetworkPolicy, desiredPool, desiredRoleBinding } from './desired.ts';
import { desiredDaemonSet } from './desired-daemon-set.ts';

/** MTLS_MANAGED_BY is set on a Secret with certificates that another controller maintains: it is only read. */
export const MTLS_MANAGED_BY = 'hsm.j5t.io/mtls-managed-by';

/** The longest time between two attempts to replace a DaemonSet with another selector. */
const MAX_CONFLICT_RETRY_MS = 60_000;

/** A check of the certificate is not worth a shorter timer. */
const MIN_CERTIFICATE_CHECK_MS = 1_000;

/** reconcile creates what an HSMDevice needs: its pool, discovery on the nodes, and what its agents will use. */
export async function reconcile(context: DeviceContext): Promise<ReconcileResult> {
  refuseInvalid(context);
  const failures: unknown[] = [];
  // An object that cannot be written must not stop the others.
  const attempt = async <T>(step: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await step();
    } catch (error) {
      failures.push(error);
      return undefined;
    }
  };
  await attempt(() => writePool(context));
  for (const account of desiredAccounts(context.key)) await attempt(() => context.apply(ServiceAccount, account));
  await attempt(() => context.apply(RoleBinding, desiredRoleBinding(context.key, context.deps.discoveryRole)));
  await attempt(() => writeNetworkPolicy(context));
  const checkAfterMs = await attempt(() => writeCertificate(context));
  await attempt(() => writeDiscovery(context));
  reportProblems(context, failures);
  if (failures.length > 0) throw failures[0];
  return { requeueAfterMs: checkAfterMs };
}

/** The schema of the API server may be older or newer than the one that the object was stored with. */
function refuseInvalid({ object }: DeviceContext): void {
  const problems = HSMDevice.validate(object);
  if (problems.length > 0) throw terminal('SpecInvalid', describeProblems(problems));
}

/** A pool that a user created for this device is used as it is. */
async function writePool(context: DeviceContext): Promise<void> {
  const { object, key, apply, get, event } = context;
  const existing = get(HSMPool, { namespace: key.namespace, name: poolName(key.name) });
  const isUsers = existing?.spec.hsmDeviceRef === key.name && !existing.metadata.ownerReferences?.some(isController);
  if (isUsers) return;
  const { outcome } = await apply(HSMPool, desiredPool(object, key));
  if (outcome === 'created') event('Normal', 'PoolCreated', `created the HSMPool ${poolName(key.name)}`);
}

function isController({ controller }: { readonly controller?: boolean | undefined }): boolean {
  return controller === true;
}

/** An existing NetworkPolicy stays when the setting is turned off: no other reason requires the permission to delete one. */
async function writeNetworkPolicy({ key, apply, deps }: DeviceContext): Promise<void> {
  const { config, managerNamespace } = deps;
  if (config.networkPolicy) await apply(NetworkPolicy, desiredNetworkPolicy(key, managerNamespace));
}

/** writeCertificate keeps the certificate of the agents current, and returns when it has to be checked again. */
async function writeCertificate({ key, apply, live, deps, clock }: DeviceContext): Promise<number | undefined> {
  const { authority } = deps;
  // The trigger runs this again once there is a CA.
  if (!authority.current) return undefined;
  const metadata = { namespace: key.namespace, name: agentTlsName(key.name), labels: labelsOf('agent', key.name) };
  const existing = await live.find(Secret, metadata);
  if (existing?.metadata?.annotations?.[MTLS_MANAGED_BY] !== undefined) return undefined;
  const { data, checkAt } = await authority.issue(existing, { names: [agentServerName(key)], usages: ['server'] });
  await apply(Secret, { metadata, type: 'kubernetes.io/tls', data });
  return Math.max(checkAt - clock.now(), MIN_CERTIFICATE_CHECK_MS);
}

async function writeDiscovery(context: DeviceContext): Promise<void> {
  const { object, key, apply, get, remove, deps, event } = context;
  const daemonSet = { namespace: key.namespace, name: discoveryName(key.name) };
  if (object.spec.suspend) {
    if (get(DaemonSet, daemonSet)) await remove(DaemonSet, daemonSet);
    return;
  }
  const image = object.spec.image ?? deps.image;
  if (image === undefined) {
    const remedy = 'set spec.image, or the setting image of the operator';
    event('Warning', 'ImageUnknown', `cannot start discovery: the image is not known; ${remedy}`);
    return;
  }
  try {
    await apply(DaemonSet, desiredDaemonSet(object, key, image));
  } catch (error) {
    if (!isInvalid(error) || !error.causes.some(({ field }) => field === 'spec.selector')) throw error;
    // No event tells that it was deleted, because its labels may differ too. With --cascade=orphan, a new DaemonSet may
    // take its pods for its own, and never replace them.
    throw slow(
      'SelectorConflict',
      `the DaemonSet ${daemonSet.name} has another selector, which cannot be changed; delete it with its pods`,
      { maxMs: MAX_CONFLICT_RETRY_MS, cause: error },
    );
  }
}

const LASTING: ReadonlySet<string> = new Set([
  'BOWLINE_FOREIGN_OBJECT',
  'BOWLINE_RECONCILE_SLOW',
  'BOWLINE_RECONCILE_TERMINAL',
]);

/** Problems that last until a user acts are also conditions of the pool. */
function reportProblems({ object, key, deps }: DeviceContext, failures: readonly unknown[]): void {
  const lasting = failures.filter((error): error is BowlineError => error instanceof BowlineError && isLasting(error));
  const pool = keyString({ namespace: key.namespace, name: poolName(key.name) });
  deps.deviceProblems.set(object.metadata.uid, lasting.map(({ message }) => message).join('; '), pool);
}

function isLasting({ code }: BowlineError): boolean {
  return LASTING.has(code);
}
