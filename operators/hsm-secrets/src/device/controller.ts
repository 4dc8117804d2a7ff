import { DaemonSet, keyOf, NetworkPolicy, RoleBinding, Secret, ServiceAccount } from '@bowline/kubernetes';
import {
  annotationsChanged,
  anyOf,
  controller,
  generationChanged,
  labelsChanged,
  ownerReferencesChanged,
} from '@bowline/runtime';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { LABELS, MANAGER, TEST_MODE_ANNOTATION } from '../api/names.ts';
import type { Deps } from '../deps.ts';

/** What is not reverted by the run of another controller; the status of a workload changes all the time. */
const contentChanged = anyOf(generationChanged, labelsChanged(), ownerReferencesChanged);

const ours = `${LABELS.managedBy}=${MANAGER}`;

/** deviceController watches HSMDevices and what is created for them. */
export const deviceController = controller(HSMDevice, { name: 'device', concurrency: 4 })
  .using<Deps>()
  .owns(HSMPool, { when: contentChanged })
  .owns(ServiceAccount, { labelSelector: ours })
  .owns(RoleBinding, { labelSelector: ours })
  .owns(DaemonSet, { labelSelector: ours, when: contentChanged, remove: true })
  .owns(NetworkPolicy, { labelSelector: ours })
  // Values are not kept; the certificate is read when it has to be checked.
  .owns(Secret, { labelSelector: ours, view: 'metadata' })
  .triggeredBy('authority', async function* (signal, { authority }, cache) {
    for await (const _ of authority.changes(signal)) yield* cache.list(HSMDevice).map(keyOf);
  })
  .when(anyOf(generationChanged, annotationsChanged(TEST_MODE_ANNOTATION)));

/** DeviceContext is the context of a run of the controller. */
export type DeviceContext = Parameters<Parameters<(typeof deviceController)['reconcile']>[0]>[0];
