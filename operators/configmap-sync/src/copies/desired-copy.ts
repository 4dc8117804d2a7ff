import { type KubernetesObject, keyOf, type ObjectMeta } from '@bowline/kubernetes';
import { ANNOTATIONS } from '../api/names.ts';
import { type Content, entriesOf } from '../content/content.ts';
import { contentHash } from '../content/content-hash.ts';
import { metadataHash } from './copy-view.ts';
import { formatKeys } from './managed-keys.ts';
import { formatManagedMetadata, type ManagedMetadata, managedMetadataOf } from './managed-metadata.ts';
import { ownerLabels } from './ownership.ts';

type Texts = Readonly<Record<string, string>>;

/** Applied is content as it is written to one copy, and what of it is ours. */
export interface Applied {
  readonly content: Content;
  /** The hash of what is ours: the applied-hash. */
  readonly hash: string;
  /** Which keys are ours, for the annotation. Undefined: all of them. */
  readonly managedKeys?: string | undefined;
  /** What both sides of a two-way sync agree on, for the annotation. Defaults to none. */
  readonly base?: string | undefined;
}

/** DesiredCopy is what every copy of a ConfigMapSync should be; only place and name differ. */
export interface DesiredCopy extends Applied {
  /** All labels that it should have: ours, and those of the spec. */
  readonly labels: Texts;
  /** Those of the spec. */
  readonly annotations: Texts;
  readonly managedMetadata: ManagedMetadata;
  readonly metadataHash: string;
  /** Annotations that say where its content comes from. */
  readonly origin: Texts;
}

/** desiredCopy is what copies should be, given the source and what its content becomes. */
export function desiredCopy(
  sync: KubernetesObject,
  source: { readonly metadata: ObjectMeta; readonly content: Content },
  content: Content,
  metadata: { readonly labels: Texts; readonly annotations: Texts },
): DesiredCopy {
  const { namespace = '', name = '', uid = '' } = source.metadata;
  const managedMetadata = managedMetadataOf(metadata);
  const names = formatManagedMetadata(managedMetadata);
  return {
    content,
    hash: contentHash(content),
    managedKeys: formatKeys(entriesOf(content).keys()),
    labels: { ...metadata.labels, ...ownerLabels(keyOf(sync)) },
    annotations:
      names === undefined ? metadata.annotations : { ...metadata.annotations, [ANNOTATIONS.managedMetadata]: names },
    managedMetadata,
    metadataHash: metadataHash(managedMetadata, metadata),
    origin: {
      [ANNOTATIONS.syncUid]: sync.metadata?.uid ?? '',
      [ANNOTATIONS.source]: `${namespace}/${name}`,
      [ANNOTATIONS.sourceUid]: uid,
      [ANNOTATIONS.sourceHash]: contentHash(source.content),
    },
  };
}
