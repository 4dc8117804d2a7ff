import { until, untilList } from '@bowline/control-plane/testing';
import { HSMDevice } from '@bowline/hsm-secrets';
import { ConfigMap, DaemonSet, Namespace, NetworkPolicy, Secret, ServiceAccount } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { inParallel } from '../../in-parallel.ts';

const NAMESPACES = 10;
const TIMEOUT_MS = 60_000;
const NEIGHBOUR = { namespace: 'crash-neighbour', name: 'neighbour' };

/** MANAGED_BY and its value mark the objects of the operator; see docs/operators/hsm-secrets. */
const MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGER = 'bowline-hsm-secrets';

/** DEVICE_SPEC selects devices: with autoDiscovery, every pool would report that it overlaps with all others. */
export const DEVICE_SPEC = {
  deviceType: 'PicoHSM',
  discovery: { usb: [{ vendorId: '20a0', productId: '4230' }] },
};

/** The namespaces of the HSMDevices. */
export const namespaces: readonly string[] = Array.from({ length: NAMESPACES }, (_, index) => `crash-0${index}`);

/** makeNamespaces creates the namespaces, and waits until the control plane has filled them. */
export async function makeNamespaces(admin: Client): Promise<void> {
  const names = [...namespaces, NEIGHBOUR.namespace];
  await inParallel(names, (name) => admin.create(Namespace, { metadata: { name } }));
  const all = (await admin.list(Namespace)).items.length;
  const options = { timeoutMs: TIMEOUT_MS };
  const called = (name: string) => ({ fieldSelector: `metadata.name=${name}` });
  await untilList(admin, ServiceAccount, called('default'), ({ length }) => length === all, options);
  await untilList(admin, ConfigMap, called('kube-root-ca.crt'), ({ length }) => length === all, options);
}

/**
 * makeBystanders creates objects next to the HSMDevices that the operator must not touch, although they look similar:
 * an HSMDevice with its own objects, and objects with the operator's label and with names like those of its objects.
 */
export async function makeBystanders(admin: Client): Promise<void> {
  await admin.create(HSMDevice, HSMDevice.withDefaults({ metadata: NEIGHBOUR, spec: DEVICE_SPEC }));
  await inParallel(namespaces, async (namespace) => {
    const labels = { [MANAGED_BY]: MANAGER };
    await admin.create(ServiceAccount, { metadata: { namespace, name: 'theirs-discovery', labels } });
    await admin.create(NetworkPolicy, { metadata: { namespace, name: 'theirs-agent' }, spec: { podSelector: {} } });
    const data = { mine: Buffer.from('x').toString('base64') };
    await admin.create(Secret, { metadata: { namespace, name: 'theirs-agent-tls', labels }, data });
  });
}

/** untilNeighbourIsServed waits until the bystander that the operator manages has the last of its objects. */
export async function untilNeighbourIsServed(admin: Client): Promise<void> {
  const { namespace, name } = NEIGHBOUR;
  const options = { timeoutMs: TIMEOUT_MS };
  await until(admin, DaemonSet, { namespace, name: `${name}-discovery` }, () => true, options);
  await until(admin, Secret, { namespace, name: `${name}-agent-tls` }, () => true, options);
}
