import { ConfigMap } from '@bowline/kubernetes';
import { project } from '@bowline/runtime';
import type { Cache } from '@bowline/runtime/cache';
import { objectNames } from '../../api/names.ts';
import { ProtocolError } from '../../protocol/decode-json.ts';
import { decodeMetadata, type SyncMetadata } from '../../protocol/metadata.ts';

/** ObservedMetadata is what an agent knows about the metadata ConfigMap. */
export type ObservedMetadata =
  /** It was not read yet. */
  | { readonly kind: 'unknown' }
  /** The agent may not read it. */
  | { readonly kind: 'forbidden' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'invalid'; readonly error: ProtocolError }
  | { readonly kind: 'valid'; readonly metadata: SyncMetadata };

/** MetadataSource is the metadata ConfigMap of an IgnitionSync, as it is now. */
export interface MetadataSource {
  observe(): ObservedMetadata;
}

// Only what was decoded is kept, not its text.
const decoded = project(({ data }: ConfigMap): ObservedMetadata => {
  try {
    return { kind: 'valid', metadata: decodeMetadata(data) };
  } catch (error) {
    if (error instanceof ProtocolError) return { kind: 'invalid', error };
    throw error;
  }
});

/** watchMetadata watches the metadata ConfigMap by name, which is all that an agent may read. */
export function watchMetadata(
  cache: Pick<Cache, 'informer'>,
  { namespace, cr }: { readonly namespace: string; readonly cr: string },
  onChange: () => void,
): MetadataSource {
  const { metadata: name } = objectNames(cr);
  const informer = cache.informer(ConfigMap, {
    view: decoded,
    namespaces: [namespace],
    fieldSelector: `metadata.name=${name}`,
  });
  informer.subscribe(onChange);
  return {
    observe() {
      const { state } = informer.health();
      // What was read before stays valid while the API server cannot be reached.
      if (!informer.hasSynced) return { kind: state === 'forbidden' ? 'forbidden' : 'unknown' };
      return informer.get({ namespace, name }) ?? { kind: 'missing' };
    },
  };
}
