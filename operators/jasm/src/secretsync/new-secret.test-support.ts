import type { Secret } from '@bowline/kubernetes';
import { desiredSecret, type WantedSecret } from './desired.ts';
import { secrets } from './secrets.ts';

/** newSecret returns a Secret as it is created. `at` is the time, RFC 3339. */
export function newSecret(namespace: string, wanted: WantedSecret, at: string): Secret {
  return secrets.newObject({ namespace, name: wanted.request.secretName }, desiredSecret(undefined, wanted), at);
}
