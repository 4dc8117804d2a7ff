import { type KubernetesObject, keyOf, type ObjectMeta } from '@bowline/kubernetes';
import type { Content } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import { copies, type DesiredCopy } from './copies.ts';
import { ownerLabels } from './ownership.ts';

type Texts = Readonly<Record<string, string>>;

/**
 * desiredCopy returns the desired state of copies, given the source and the resulting content. `base` is what both
 * sides of a two-way sync agree on; a copy that is synced one way has none.
 */
export function desiredCopy(
  sync: KubernetesObject,
  source: { readonly metadata: ObjectMeta; readonly content: Content },
  content: Content,
  metadata: { readonly labels: Texts; readonly annotations: Texts },
  base?: string,
): DesiredCopy {
  const { namespace = '', name = '', uid = '' } = source.metadata;
  return copies.desired({
    content,
    labels: ownerLabels(keyOf(sync)),
    metadata,
    operatorAnnotations: { syncUid: sync.metadata?.uid ?? '', source: `${namespace}/${name}`, sourceUid: uid, base },
    passiveAnnotations: { sourceHash: contentHash(source.content), ...(base === undefined ? { base: null } : {}) },
    // In a two-way sync, the base determines the owner of a key.
    ...(base === undefined ? {} : { keys: 'remove' }),
  });
}
