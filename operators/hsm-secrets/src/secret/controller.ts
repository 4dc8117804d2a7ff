import { isDeepStrictEqual } from 'node:util';
import { keyOf, keyString, type ObjectKey, parseKey, Secret } from '@bowline/kubernetes';
import { annotationsChanged, anyOf, changed, controller, generationChanged } from '@bowline/runtime';
import type { CacheReads } from '@bowline/runtime/controller';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMPool } from '../api/hsm-pool.ts';
import { HSMSecret } from '../api/hsm-secret.ts';
import { GROUP } from '../api/names.ts';
import type { SecretDeps } from './deps.ts';
import { belongsTo } from './parent.ts';
import { OUR_SECRETS, secretChanged, secrets } from './secrets.ts';

/** FORCE_SYNC_ANNOTATION, with a new value on an HSMSecret, reads and writes its Secret once. */
export const FORCE_SYNC_ANNOTATION: string = `${GROUP}/force-sync`;

const FINALIZER = `hsmsecret.${GROUP}/finalizer`;

const YES = 'yes';

const secretIndexes = {
  /** `namespace/name` of the HSMDevice: the one in the spec, and the one that was found. */
  device: ({ metadata, spec, status }: HSMSecret) => {
    const { deviceRef } = spec;
    const named =
      deviceRef && keyString({ namespace: deviceRef.namespace ?? metadata?.namespace, name: deviceRef.name });
    const found = status?.deviceRef && keyString(status.deviceRef);
    return [...new Set([named, found].filter((key) => key !== undefined))];
  },
  /** HSMSecrets that name no HSMDevice. */
  unnamedDevice: ({ spec }: HSMSecret) => (spec.deviceRef ? [] : [YES]),
};

/** Agents and secrets depend on this part of a pool. */
const devicesChanged = changed((before: HSMPool, after) => !isDeepStrictEqual(usedPart(before), usedPart(after)));

/** secretController watches what a delivered Secret follows from. */
export const secretController = controller(HSMSecret, {
  name: 'secret',
  concurrency: 16,
  finalizer: FINALIZER,
  indexes: secretIndexes,
})
  .using<SecretDeps>()
  .watches(HSMDevice, {
    when: generationChanged,
    // Which device an HSMSecret without a name gets depends on all of them.
    map: (device, cache) => [
      ...secretsOf(cache, keyString(keyOf(device))),
      ...cache.list(HSMSecret, { by: { unnamedDevice: YES } }).map(keyOf),
    ],
  })
  .watches(HSMPool, {
    when: devicesChanged,
    map: ({ metadata, spec }, cache) =>
      secretsOf(cache, keyString({ namespace: metadata?.namespace, name: spec.hsmDeviceRef })),
  })
  .watches(Secret, {
    labelSelector: OUR_SECRETS,
    view: secrets.view,
    indexes: { owner: ({ namespace, operatorAnnotations: { owner } }) => [`${namespace}/${owner}`] },
    when: secretChanged,
    map: ({ namespace, operatorAnnotations: { owner } }) => (owner === undefined ? [] : [{ namespace, name: owner }]),
  })
  .triggeredBy('agents', async function* (signal, { agents, checksums }, cache) {
    for await (const device of agents.changes(signal)) {
      for (const agent of agents.agentsOf(parseKey(device))) checksums.forget(agent);
      yield* secretsOf(cache, device);
    }
  })
  .ensures(Secret, { remove: true })
  .selects((object, { parentRefs }) => belongsTo(object, parentRefs))
  .when(anyOf(generationChanged, annotationsChanged(FORCE_SYNC_ANNOTATION)));

/** SecretContext is the context of a run of the controller. */
export type SecretContext = Parameters<Parameters<(typeof secretController)['reconcile']>[0]>[0];

type Secrets = CacheReads<{
  readonly [K in (typeof HSMSecret)['id']]: { readonly value: HSMSecret; readonly index: keyof typeof secretIndexes };
}>;

function secretsOf(cache: Secrets, device: string): readonly ObjectKey[] {
  return cache.list(HSMSecret, { by: { device } }).map(keyOf);
}

/** secretsOn returns the HSMSecrets that read, or may read, from an HSMDevice. */
export function secretsOn({ list }: Pick<SecretContext, 'list'>, device: string): readonly HSMSecret[] {
  return [...list(HSMSecret, { by: { device } }), ...list(HSMSecret, { by: { unnamedDevice: YES } })];
}

function usedPart({ spec, status }: HSMPool): object {
  const devices = status?.aggregatedDevices ?? [];
  return {
    mirroring: spec.mirroring,
    primary: status?.mirroring?.primarySerial,
    devices: devices.map(({ serialNumber, nodeName, available, health }) => [
      serialNumber,
      nodeName,
      available,
      health === 'Claimed',
    ]),
  };
}
