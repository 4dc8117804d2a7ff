import type { Representation } from '../http/negotiate.ts';
import { memberText } from '../json/member-text.ts';
import type { ApiResource } from '../registry/api-resource.ts';
import type { Stored } from '../storage/stored.ts';
import { typedText, typePrefix } from './render.ts';
import { tableText } from './table.ts';

/** FormOptions configures how objects are written. */
export interface FormOptions {
  readonly resource: ApiResource;
  readonly form: Representation;
  /** The part of each object that a table row includes. Defaults to its metadata. */
  readonly includeObject: string | null;
  /** Wall time, used to compute ages. */
  readonly now: number;
}

/** ListResult holds a list before it is written in a representation. */
export interface ListResult {
  readonly items: readonly Stored[];
  readonly revision: number;
  readonly continueToken: string | undefined;
  readonly remaining: number | undefined;
}

/** objectText writes one object in the requested representation. */
export function objectText(options: FormOptions, stored: Stored): string {
  switch (options.form) {
    case 'object':
      return typedText(options.resource, stored);
    case 'metadata':
      return metadataText(stored);
    case 'table':
      return tableText(options, [stored], { resourceVersion: String(stored.revision) });
  }
}

/** eventText returns `objectText` for the events of a watch: only the first table has column definitions. */
export function eventText(options: FormOptions): (stored: Stored, isFirst: boolean) => string {
  let hasHeading = false;
  return (stored) => {
    if (options.form !== 'table') return objectText(options, stored);
    const text = tableText(options, [stored], { resourceVersion: String(stored.revision) }, !hasHeading);
    hasHeading = true;
    return text;
  };
}

/** listFormText writes a list in the requested representation. */
export function listFormText(options: FormOptions, list: ListResult): string {
  const { resource, form } = options;
  const metadata = {
    resourceVersion: String(list.revision),
    // Lists of custom resources always have a continue token, even if it is empty.
    continue: list.continueToken ?? (resource.listsTypedItems && form === 'object' ? '' : undefined),
    remainingItemCount: list.remaining,
  };
  if (form === 'table') return tableText(options, list.items, metadata);
  const { listKind, listsTypedItems } = resource;
  const head =
    form === 'metadata'
      ? '{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1"'
      : `{"kind":${JSON.stringify(listKind)},${typePrefix(resource).slice(typePrefix(resource).indexOf('"apiVersion"'), -1)}`;
  const items = list.items.map((stored) => {
    if (form === 'metadata') return metadataText(stored);
    return listsTypedItems ? typedText(resource, stored) : stored.json;
  });
  // An empty list of metadata has null items.
  const body = form === 'metadata' && items.length === 0 ? 'null' : `[${items.join(',')}]`;
  return `${head},"metadata":${JSON.stringify(metadata)},"items":${body}}`;
}

/** A change is written for one watcher after the other; all of them get the same text. */
let lastMetadata: { readonly stored: Stored; readonly text: string } | undefined;

function metadataText(stored: Stored): string {
  if (lastMetadata?.stored === stored) return lastMetadata.text;
  const text = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":${memberText(stored.json, 'metadata')}}`;
  lastMetadata = { stored, text };
  return text;
}
