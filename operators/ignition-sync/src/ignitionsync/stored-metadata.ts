import { ConfigMap } from '@bowline/kubernetes';
import { objectNames } from '../api/names.ts';
import { ProtocolError } from '../protocol/decode-json.ts';
import { decodeMetadata, type SyncMetadata } from '../protocol/metadata.ts';
import type { SyncContext } from './sync-controller.ts';

/** storedMetadata returns what agents read now. Undefined if there is none, or another client has damaged it. */
export function storedMetadata({ get, key }: SyncContext): SyncMetadata | undefined {
  const stored = get(ConfigMap, { namespace: key.namespace, name: objectNames(key.name).metadata });
  if (!stored) return undefined;
  try {
    return decodeMetadata(stored.data);
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}
