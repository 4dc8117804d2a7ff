import { keyString, Secret } from '@bowline/kubernetes';
import type { CleanupContext } from '@bowline/runtime/controller';
import type { SecretContext } from './controller.ts';
import { giveUp, secretNameOf } from './delivered-secret.ts';

type Cleanup = SecretContext & Pick<CleanupContext<never, never, never, never>, 'deletion'>;

/**
 * cleanUp removes the Secrets of an HSMSecret, or leaves them to the user: with the policy Retain, and when the
 * HSMSecret is deleted without its dependents. It needs no device.
 */
export async function cleanUp(context: Cleanup): Promise<undefined> {
  const { object, key, list, deletion, deps } = context;
  const isDeleted = object.spec.deletionPolicy === 'Delete' && deletion.mode !== 'orphan';
  const known = list(Secret, { by: { owner: keyString(key) } }).map(({ name }) => name);
  // The cache may not have all of them yet.
  const names = new Set([...known, secretNameOf(object), object.status?.secretRef?.name ?? secretNameOf(object)]);
  for (const name of names) await giveUp(context, name, { delete: isDeleted });
  deps.metrics.forgetSecret(keyString(key));
  deps.modifiedSecrets.delete(keyString(key));
  return undefined;
}
