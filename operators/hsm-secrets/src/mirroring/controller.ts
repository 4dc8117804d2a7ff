import { keyOf, parseKey } from '@bowline/kubernetes';
import { anyOf, changed, controller, generationChanged } from '@bowline/runtime';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { poolName } from '../api/names.ts';
import type { Deps } from '../deps.ts';

/** mirrorController watches what the mirroring of a pool depends on. */
export const mirrorController = controller(HSMPool, { name: 'mirror', summarize: false, concurrency: 4 })
  .using<Deps>()
  .watches(HSMDevice, {
    when: generationChanged,
    map: (device) => {
      const { namespace, name } = keyOf(device);
      return [{ namespace, name: poolName(name) }];
    },
  })
  .triggeredBy('agents', async function* (signal, { agents }) {
    for await (const device of agents.changes(signal)) {
      const { namespace, name } = parseKey(device);
      yield { namespace, name: poolName(name) };
    }
  })
  .triggeredBy('requests', async function* (signal, { requestedMirrors }) {
    for await (const pool of requestedMirrors.follow(signal)) yield parseKey(pool);
  })
  .when(
    anyOf(
      generationChanged,
      changed((before: HSMPool, after) => devicesKey(before) !== devicesKey(after)),
    ),
  );

/** MirrorContext is the context of a run of the controller. */
export type MirrorContext = Parameters<Parameters<(typeof mirrorController)['reconcile']>[0]>[0];

/** What of the devices of a pool decides about mirroring. */
function devicesKey({ status }: HSMPool): string {
  return JSON.stringify(
    (status?.aggregatedDevices ?? []).map(({ id, nodeName, available, health }) => [
      id,
      nodeName,
      available,
      health === 'Claimed',
    ]),
  );
}
