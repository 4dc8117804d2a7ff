/** ManagedMetadata names the labels and annotations of a copy that its spec asks for; sorted. */
export interface ManagedMetadata {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
}

/** NO_METADATA is that of most copies. */
export const NO_METADATA: ManagedMetadata = Object.freeze({
  labels: Object.freeze([]),
  annotations: Object.freeze([]),
});

/** managedMetadataOf are the names of some labels and annotations. */
export function managedMetadataOf(wanted: {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}): ManagedMetadata {
  const labels = Object.keys(wanted.labels).sort();
  const annotations = Object.keys(wanted.annotations).sort();
  return labels.length + annotations.length === 0 ? NO_METADATA : { labels, annotations };
}

/** formatManagedMetadata is the text for the annotation; undefined when there is nothing to say. */
export function formatManagedMetadata(names: ManagedMetadata): string | undefined {
  return names === NO_METADATA ? undefined : JSON.stringify(names);
}

/** parseManagedMetadata reverses `formatManagedMetadata`. Somebody may have written anything: that counts as nothing. */
export function parseManagedMetadata(text: string | undefined): ManagedMetadata {
  if (text === undefined) return NO_METADATA;
  try {
    const { labels, annotations } = JSON.parse(text) as Partial<Record<keyof ManagedMetadata, unknown>>;
    if (isTexts(labels) && isTexts(annotations)) return { labels, annotations };
  } catch {
    // Read like an absent one: what it named stays on the copy.
  }
  return NO_METADATA;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
