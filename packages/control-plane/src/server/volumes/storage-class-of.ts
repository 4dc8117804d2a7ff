import type { ObjectMeta, StorageClass } from '@bowline/kubernetes';

/** CLASS_ANNOTATION takes precedence over the field `storageClassName`, which is newer. */
export const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

const DEFAULT_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

interface OfClass {
  readonly metadata?: Pick<ObjectMeta, 'annotations'> | undefined;
  readonly spec?: { readonly storageClassName?: string | undefined } | undefined;
}

/** storageClassOf returns the class of a claim or volume; undefined if none is set, which differs from no class: ''. */
export function storageClassOf({ metadata, spec }: OfClass): string | undefined {
  return metadata?.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName;
}

/** defaultStorageClassName returns the name of the default class: of several, the newest, and then the first by name. */
export function defaultStorageClassName(classes: Iterable<StorageClass>): string | undefined {
  let newest: Pick<ObjectMeta, 'name' | 'creationTimestamp'> | undefined;
  for (const { metadata = {} } of classes) {
    if (!DEFAULT_ANNOTATIONS.some((name) => metadata.annotations?.[name] === 'true')) continue;
    if (!newest || isPreferred(metadata, newest)) newest = metadata;
  }
  return newest?.name;
}

function isPreferred(
  { name = '', creationTimestamp = '' }: Pick<ObjectMeta, 'name' | 'creationTimestamp'>,
  other: Pick<ObjectMeta, 'name' | 'creationTimestamp'>,
): boolean {
  const otherTime = other.creationTimestamp ?? '';
  return creationTimestamp === otherTime ? name < (other.name ?? '') : creationTimestamp > otherTime;
}
