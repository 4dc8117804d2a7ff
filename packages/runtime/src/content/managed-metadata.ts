import { hash } from 'node:crypto';
import type { ObjectMeta } from '@bowline/kubernetes';
import type { StringMap } from './content.ts';

/**
 * ManagedMetadata names the labels and annotations of an object that its owner requests in addition to the operator's
 * own; sorted.
 */
export interface ManagedMetadata {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/** NO_METADATA is the value for most objects. */
export const NO_METADATA: ManagedMetadata = Object.freeze({
  labels: Object.freeze([]),
  annotations: Object.freeze([]),
});

/** managedMetadataOf returns the names of some labels and annotations. */
export function managedMetadataOf(wanted: {
  readonly labels: StringMap;
  readonly annotations: StringMap;
}): ManagedMetadata {
  const labels = Object.keys(wanted.labels).sort();
  const annotations = Object.keys(wanted.annotations).sort();
  return labels.length + annotations.length === 0 ? NO_METADATA : { labels, annotations };
}

/** formatManagedMetadata formats the names for the annotation that records them; undefined when there are none. */
export function formatManagedMetadata(names: ManagedMetadata): string | undefined {
  return names === NO_METADATA ? undefined : JSON.stringify(names);
}

/** parseManagedMetadata reverses `formatManagedMetadata`. An invalid value is treated as missing. */
export function parseManagedMetadata(text: string | undefined): ManagedMetadata {
  if (text === undefined) return NO_METADATA;
  try {
    const { labels, annotations } = JSON.parse(text) as Partial<Record<keyof ManagedMetadata, unknown>>;
    if (isTexts(labels) && isTexts(annotations)) return { labels, annotations };
  } catch {
    // Treated as missing: the labels and annotations that it named stay on the object.
  }
  return NO_METADATA;
}

/** metadataHash hashes the values of some labels and annotations, including missing ones. */
export function metadataHash(
  names: ManagedMetadata,
  { labels = {}, annotations = {} }: Pick<ObjectMeta, 'labels' | 'annotations'>,
): string {
  if (names === NO_METADATA) return '';
  const values = [
    names.labels.map((each) => [each, labels[each]]),
    names.annotations.map((each) => [each, annotations[each]]),
  ];
  return hash('sha256', JSON.stringify(values), 'base64');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
