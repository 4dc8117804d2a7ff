import type { ObjectMeta } from '@bowline/kubernetes';
import { HSMDevice } from '../api/hsm-device.ts';
import { HSMSecret } from '../api/hsm-secret.ts';

/** deviceOf returns an HSMDevice with the defaults of the API server. */
export function deviceOf(namespace: string, name: string, spec: Partial<HSMDevice['spec']> = {}): HSMDevice {
  return HSMDevice.withDefaults({ metadata: { namespace, name }, spec: { deviceType: 'PicoHSM', ...spec } });
}

/** secretOf returns an HSMSecret `apps/database` with the defaults of the API server. */
export function secretOf(spec: Partial<HSMSecret['spec']> = {}, metadata: ObjectMeta = {}): HSMSecret {
  return HSMSecret.withDefaults({ metadata: { namespace: 'apps', name: 'database', ...metadata }, spec });
}
