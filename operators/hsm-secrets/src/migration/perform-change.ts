import { DaemonSet, type KubernetesObject, keyOf } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import { createWriter, fieldManagerOf, ownerReference, type Writer } from '@bowline/runtime/writing';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { LABELS, MANAGER, OPERATOR, poolName } from '../api/names.ts';
import { desiredPool } from '../device/desired.ts';
import { SAVED_SPEC } from './older-device.ts';
import { hasController } from './older-workloads.ts';
import type { Change } from './step.ts';

/** What the manager also writes has its field manager, so that the manager finds nothing to change. */
const DEVICE_MANAGER = fieldManagerOf(OPERATOR, 'device');
const FIELD_MANAGER = fieldManagerOf(OPERATOR, 'migration');

/**
 * performChange performs one change. It applies only to the object as it was read: one that changed meanwhile is a
 * conflict, and the next run decides again.
 */
export async function performChange(client: Client, change: Change, signal: AbortSignal): Promise<void> {
  const options = { fieldManager: FIELD_MANAGER, signal };
  switch (change.type) {
    case 'save': {
      const metadata = { ...stateOf(change.device), annotations: { [SAVED_SPEC]: change.saved } };
      await client.patch(HSMDevice, keyOf(change.device), { type: 'merge', body: { metadata } }, options);
      return;
    }
    case 'rewrite':
      await client.update(HSMDevice, change.device, options);
      return;
    case 'drop-status': {
      const { resource, object } = change;
      const patch = { type: 'merge', body: { metadata: stateOf(object), status: null } } as const;
      await client.patch(resource, keyOf(object), patch, { ...options, subresource: 'status' });
      return;
    }
    case 'write-pool':
      await writePool(client, change.device, signal);
      return;
    case 'complete-pool': {
      // Its status may have been dropped since it was read.
      const pool = await client.get(HSMPool, keyOf(change.pool), { signal });
      const metadata = { ...stateOf(pool), uid: change.pool.metadata?.uid };
      const body = { metadata, spec: { hsmDeviceRef: change.device.metadata?.name } };
      await client.patch(HSMPool, keyOf(pool), { type: 'merge', body }, options);
      return;
    }
    case 'replace-discovery':
      await replaceDiscovery(client, change, options);
      return;
    case 'delete': {
      const { resource, object, isOlder } = change;
      const { remove } = createWriter({ client, ...options });
      await remove(resource, keyOf(object), {
        uid: object.metadata?.uid,
        isOurs: (metadata) => isOlder({ metadata }),
      });
    }
  }
}

function writePool(client: Client, device: HSMDevice, signal: AbortSignal): ReturnType<Writer['apply']> {
  const ownership = { owner: { resource: HSMDevice, object: device } };
  const { apply } = createWriter({ client, fieldManager: DEVICE_MANAGER, ownership, signal });
  return apply<KubernetesObject>(HSMPool, desiredPool(device, keyOf(device)));
}

/**
 * The manager watches only DaemonSets with its label: with it, and the owner, it notices the deletion and creates its
 * own DaemonSet.
 */
async function replaceDiscovery(
  client: Client,
  { device, daemonSet }: Extract<Change, { type: 'replace-discovery' }>,
  options: { readonly fieldManager: string; readonly signal: AbortSignal },
): Promise<void> {
  const { namespace, name = '' } = device.metadata ?? {};
  const pool = await client.find(HSMPool, { namespace, name: poolName(name) }, { signal: options.signal });
  if (pool?.spec.hsmDeviceRef !== name) {
    throw new BowlineError(
      'BOWLINE_HSM_MIGRATION_INCOMPLETE',
      `cannot replace the DaemonSet ${daemonSet.metadata?.name}: the HSMPool ${poolName(name)} does not exist; run the migration again`,
    );
  }
  const owners = daemonSet.metadata?.ownerReferences ?? [];
  const ownerReferences = hasController(daemonSet)
    ? owners
    : [...owners, ownerReference({ resource: HSMDevice, object: device })];
  const labels = { [LABELS.managedBy]: MANAGER, [LABELS.device]: name };
  const body = { metadata: { ...stateOf(daemonSet), labels, ownerReferences } };
  const marked = await client.patch(DaemonSet, keyOf(daemonSet), { type: 'merge', body }, options);
  const { uid = '', resourceVersion = '' } = marked.metadata ?? {};
  await client.delete(DaemonSet, keyOf(daemonSet), {
    preconditions: { uid, resourceVersion },
    // A DaemonSet of the same name would adopt its pods, and take them for its own if it is as new as the older one was.
    propagationPolicy: 'Background',
    signal: options.signal,
  });
}

/** A request with the uid and resourceVersion of an object fails if the object is not in this state. */
function stateOf({ metadata }: KubernetesObject): { uid: string | undefined; resourceVersion: string | undefined } {
  return { uid: metadata?.uid, resourceVersion: metadata?.resourceVersion };
}
