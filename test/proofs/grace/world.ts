import { type EmbeddedControlPlane, startControlPlane } from '@bowline/control-plane';
import { until } from '@bowline/control-plane/testing';
import { Namespace, Pod, ServiceAccount } from '@bowline/kubernetes';

import { type Client, createClient } from '@bowline/runtime/client';
import { installCustomResourceDefinitions } from '@bowline/runtime/install';
import { HSMDevice } from '../../../operators/hsm-secrets/src/api/hsm-device.ts';
import { HSMPool } from '../../../operators/hsm-secrets/src/api/hsm-pool.ts';
import { hsmSecrets } from '../../../operators/hsm-secrets/src/operator.ts';
import { WorldClock } from './world-clock.ts';

/** World is a control plane in this process, and the clock of the managers, which a case advances. */
export interface World extends AsyncDisposable {
  readonly controlPlane: EmbeddedControlPlane;
  readonly clock: WorldClock;
  readonly admin: Client;
  /** The namespace of the managers: cases run one after another, and share the certificate authority. */
  readonly managerNamespace: string;
  /** enter creates the namespace of a case. */
  enter(name: string): Promise<void>;
  /** leave deletes what the managers of the next case would find. */
  leave(name: string): Promise<void>;
}

const MANAGERS = 'managers';

/** openWorld starts a control plane without controllers for workloads: cases create the pods themselves. */
export async function openWorld(): Promise<World> {
  // The API server keeps the real time: its own timers are of no interest here.
  const clock = new WorldClock({ startMs: Date.now() });
  const alone = { listen: false, scheduler: false, workloads: false, nodes: 0 } as const;
  const controlPlane = await startControlPlane({ kind: 'embedded', ...alone });
  const admin = createClient({ transport: await controlPlane.transport('admin') });
  await installCustomResourceDefinitions(admin, hsmSecrets.resources);
  await admin.create(Namespace, { metadata: { name: MANAGERS } });
  return {
    controlPlane,
    clock,
    admin,
    managerNamespace: MANAGERS,
    async enter(name) {
      await admin.create(Namespace, { metadata: { name } });
      // Pods are refused before.
      await until(admin, ServiceAccount, { namespace: name, name: 'default' }, () => true);
    },
    async leave(namespace) {
      await admin.deleteCollection(Pod, { namespace, gracePeriodSeconds: 0 });
      await admin.deleteCollection(HSMDevice, { namespace });
      await admin.deleteCollection(HSMPool, { namespace });
      await admin.delete(Namespace, { name: namespace });
    },
    async [Symbol.asyncDispose]() {
      await admin.close();
      await controlPlane.stop();
    },
  };
}
