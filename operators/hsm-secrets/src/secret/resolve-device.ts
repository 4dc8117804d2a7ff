import type { ObjectKey } from '@bowline/kubernetes';
import type { HSMDevice } from '../api/hsm-device.ts';
import type { HSMSecret } from '../api/hsm-secret.ts';
import { SyncProblem } from './problem.ts';

/** DeviceKey is the key of an HSMDevice. */
export type DeviceKey = Required<Pick<ObjectKey, 'namespace' | 'name'>> & { readonly namespace: string };

/** KnownDevices finds HSMDevices. */
export interface KnownDevices {
  get(key: DeviceKey): HSMDevice | undefined;
  /** in returns the HSMDevices of a namespace. */
  in(namespace: string): readonly HSMDevice[];
  /** The HSMDevice of HSMSecrets in namespaces without one. */
  readonly defaultDevice: DeviceKey | undefined;
}

const MAX_NAMED = 5;

/**
 * resolveDevice returns the HSMDevice of an HSMSecret, or why there is none: the one that it names, else the only one
 * of its namespace, else the default of the operator.
 */
export function resolveDevice({ metadata, spec }: HSMSecret, devices: KnownDevices): HSMDevice | SyncProblem {
  const namespace = metadata?.namespace ?? '';
  const { deviceRef } = spec;
  if (deviceRef) return deviceAt({ namespace: deviceRef.namespace ?? namespace, name: deviceRef.name }, devices);
  const [only, ...others] = devices.in(namespace);
  if (!only) {
    if (devices.defaultDevice) return deviceAt(devices.defaultDevice, devices);
    return new SyncProblem(
      'DeviceMissing',
      `the namespace ${namespace} has no HSMDevice; create one, or set spec.deviceRef`,
    );
  }
  if (others.length === 0) return only;
  const names = [only, ...others].map((device) => device.metadata?.name ?? '').sort();
  const more = names.length > MAX_NAMED ? `, and ${names.length - MAX_NAMED} more` : '';
  return new SyncProblem(
    'DeviceAmbiguous',
    `the namespace ${namespace} has several HSMDevices (${names.slice(0, MAX_NAMED).join(', ')}${more}); set spec.deviceRef to one of them`,
  );
}

function deviceAt(key: DeviceKey, devices: KnownDevices): HSMDevice | SyncProblem {
  return (
    devices.get(key) ??
    new SyncProblem(
      'DeviceMissing',
      `the HSMDevice ${key.namespace}/${key.name} does not exist; create it, or set spec.deviceRef to another one`,
    )
  );
}

/** pathOf returns the path of an HSMSecret on a device. */
export function pathOf({ metadata, spec }: HSMSecret, deviceNamespace: string): string {
  const { namespace = '', name = '' } = metadata ?? {};
  return spec.path ?? (deviceNamespace === namespace ? name : `${namespace}/${name}`);
}
