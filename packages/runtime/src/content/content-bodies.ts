import type { KubernetesObject, ObjectKey, ObjectMeta } from '@bowline/kubernetes';
import { MANAGED_BY } from '../identity/operator-identity.ts';
import { type Content, isEmpty, type StringMap } from './content.ts';
import type { ContentView } from './content-view.ts';
import type {
  ContentFormat,
  DesiredContent,
  OperatorAnnotationFormat,
  OperatorAnnotations,
} from './managed-content.ts';

/** Changes holds values of labels or annotations; null removes one. */
type Changes = Readonly<Record<string, string | null>>;

type Format = Pick<
  ContentFormat<never, string, string, string>,
  'maps' | 'annotations' | 'operatorAnnotations' | 'managers' | 'labelPrefix'
>;
type Desired = DesiredContent<string, string>;

/** Applied is the part of the desired content that one object gets. */
export interface Applied {
  /** All content of the object. */
  readonly content: Content;
  /** The hash of our part of it. */
  readonly hash: string;
  /** The list of our keys; undefined when it is too long for an annotation, or disabled. */
  readonly keyList: string | undefined;
}

/**
 * newBody returns an object that does not exist yet; `kept` holds labels and annotations of the object that it
 * replaces.
 */
export function newBody(
  format: Format,
  { namespace, name }: ObjectKey,
  desired: Desired,
  applied: Applied,
  { at, kept }: { readonly at: string; readonly kept?: Pick<ObjectMeta, 'labels' | 'annotations'> | undefined },
): KubernetesObject {
  const annotations = {
    ...kept?.annotations,
    ...annotationsOf(format, desired, applied),
    [format.annotations.time]: at,
  };
  return {
    metadata: {
      ...(namespace === undefined ? {} : { namespace }),
      name,
      labels: { ...kept?.labels, ...desired.labels },
      annotations: withoutNulls(annotations),
    },
    ...desired.members,
    ...contentMembers(applied.content),
    ...(desired.immutable ? { immutable: true } : {}),
  };
}

/** contentMembers returns content as the members of an object. */
export function contentMembers<K extends string>(content: Content<K>): { readonly [Map in K]?: StringMap } {
  // The API server drops empty maps; without them the response equals the request.
  return Object.fromEntries(Object.entries<StringMap>(content).filter(([, texts]) => !isEmpty(texts))) as {
    readonly [Map in K]?: StringMap;
  };
}

/** PatchOptions configures what a patch changes. */
export interface PatchOptions {
  /** The current time, RFC 3339. */
  readonly at: string;
  /** The members that change the content; undefined when only labels and annotations change. */
  readonly content: object | undefined;
  readonly adopts?: boolean | undefined;
  /** Labels and the object's own settings are not changed. */
  readonly isGuest?: boolean | undefined;
}

/**
 * patchBody returns the strategic merge patch that brings an object to the desired state, if it is still in the state
 * of `view`.
 */
export function patchBody(
  format: Format,
  view: ContentView,
  desired: Desired,
  applied: Pick<Applied, 'hash' | 'keyList'> | undefined,
  { at, content, adopts = false, isGuest = false }: PatchOptions,
): object {
  const { annotations: names } = format;
  const isTimed = content !== undefined || (applied !== undefined && view.writtenAt === undefined);
  return {
    metadata: {
      ...identityOf(view),
      ...(isGuest ? {} : { labels: { ...nulls(view.managedMetadata.labels), ...desired.labels } }),
      annotations: {
        ...nulls(view.managedMetadata.annotations),
        ...(names.metadata === undefined ? {} : { [names.metadata]: null }),
        ...annotationsOf(format, desired, applied),
        ...(isGuest && applied && content ? { [names.keys]: applied.keyList ?? null } : {}),
        ...(content === undefined ? {} : marksOf(format, desired.annotationsWithContent)),
        ...(isTimed ? { [names.time]: at } : {}),
        ...(adopts ? adoptionOf(format, view) : {}),
      },
    },
    ...content,
    ...(desired.immutable && !isGuest ? { immutable: true } : {}),
  };
}

/** replacedContent replaces all content, knowing only which maps hold anything. */
export function replacedContent(content: Content, filledMaps: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(content).map(([map, texts]) => [map, replaced(texts, filledMaps.includes(map))]),
  );
}

/**
 * A strategic merge patch merges maps unless it requests a replacement. No key can be named `$patch`. If the map to
 * replace does not exist, the API server would silently drop such a patch.
 */
function replaced(texts: StringMap, isFilled: boolean): object | null {
  if (isEmpty(texts)) return null;
  return isFilled ? { $patch: 'replace', ...texts } : texts;
}

/** changedContent changes only the keys that differ. */
export function changedContent(before: Content, after: Content): object {
  const changes = Object.keys(after).map((map) => {
    const [old, next] = [before[map] ?? {}, after[map] ?? {}];
    const gone = Object.keys(old).filter((key) => !Object.hasOwn(next, key));
    const changed = Object.entries(next).filter(([key, value]) => !Object.hasOwn(old, key) || old[key] !== value);
    return [map, { ...nulls(gone), ...Object.fromEntries(changed) }] as const;
  });
  return Object.fromEntries(changes.filter(([, texts]) => Object.keys(texts).length > 0));
}

/**
 * releaseBody returns the merge patch that removes our labels and annotations from an object, if it is still in the
 * state of `view`.
 */
export function releaseBody(format: Format, view: ContentView): object {
  const { labelPrefix } = format;
  const ours = Object.keys(view.labels).filter((name) => labelPrefix !== undefined && name.startsWith(labelPrefix));
  return {
    metadata: {
      ...identityOf(view),
      labels: { ...nulls(ours), [MANAGED_BY]: view.previousManager ?? null },
      annotations: nulls(ownAnnotations(format)),
    },
  };
}

/**
 * keptMetadata returns the labels and annotations that other clients set on an object: neither ours nor requested with
 * `metadata`.
 */
export function keptMetadata(
  format: Format,
  { labels = {}, annotations = {} }: ObjectMeta,
  { managedMetadata }: ContentView,
): Pick<ObjectMeta, 'labels' | 'annotations'> {
  return {
    labels: without(labels, managedMetadata.labels),
    annotations: without(annotations, [...managedMetadata.annotations, ...ownAnnotations(format)]),
  };
}

/** identityOf makes a patch fail when the object was changed, or replaced by another one, since it was seen. */
function identityOf({ uid, resourceVersion }: ContentView): object {
  return { uid, resourceVersion };
}

function annotationsOf(
  format: Format,
  desired: Desired,
  applied: Pick<Applied, 'hash' | 'keyList'> | undefined,
): Changes {
  const { annotations: names } = format;
  return {
    ...desired.metadata?.annotations,
    ...(names.metadata === undefined || desired.metadataNames === undefined
      ? {}
      : { [names.metadata]: desired.metadataNames }),
    ...marksOf(format, desired.passiveAnnotations),
    ...marksOf(format, desired.operatorAnnotations),
    ...(applied ? { [names.hash]: applied.hash } : {}),
    ...(desired.keys === 'leave' || !applied
      ? {}
      : { [names.keys]: desired.keys === 'remove' ? null : (applied.keyList ?? null) }),
  };
}

function marksOf({ operatorAnnotations }: Format, values: OperatorAnnotations<string> = {}): Changes {
  const known: { readonly [annotation: string]: string | OperatorAnnotationFormat } = operatorAnnotations;
  return Object.fromEntries(
    Object.entries(values).flatMap(([annotation, value]) =>
      value === undefined ? [] : [[annotationOf(known[annotation]), value]],
    ),
  );
}

function annotationOf(annotation: string | OperatorAnnotationFormat | undefined): string {
  return typeof annotation === 'object' ? annotation.annotation : (annotation ?? '');
}

function ownAnnotations({ annotations, operatorAnnotations }: Format): readonly string[] {
  const known = Object.values(annotations).filter((name): name is string => name !== undefined);
  return [...known, ...Object.values<string | OperatorAnnotationFormat>(operatorAnnotations).map(annotationOf)];
}

function adoptionOf({ annotations, managers }: Format, { labels, previousManager }: ContentView): Changes {
  const manager = labels[MANAGED_BY];
  const previous = manager === undefined || managers.includes(manager) ? previousManager : manager;
  return {
    ...(annotations.adopted === undefined ? {} : { [annotations.adopted]: 'true' }),
    ...(annotations.previousManager === undefined || previous === undefined
      ? {}
      : { [annotations.previousManager]: previous }),
  };
}

function without(texts: StringMap, names: readonly string[]): StringMap {
  const gone = new Set(names);
  return Object.fromEntries(Object.entries(texts).filter(([name]) => !gone.has(name)));
}

function nulls(names: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

function withoutNulls(values: Changes): StringMap {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null));
}
