import type { ConfigMap, ObjectKey, ObjectMeta } from '@bowline/kubernetes';
import { ANNOTATIONS, GROUP, MANAGED_BY, MANAGER } from '../api/names.ts';
import type { Content } from '../content/content.ts';
import type { CopyView } from './copy-view.ts';
import type { Applied, DesiredCopy } from './desired-copy.ts';

type Texts = Readonly<Record<string, string>>;
type Changes = Readonly<Record<string, string | null>>;

/** NewCopyOptions says what else a new copy has. */
export interface NewCopyOptions {
  /** The time, RFC 3339. */
  readonly at: string;
  /** Labels and annotations of the object whose place it takes. Defaults to none. */
  readonly kept?: Pick<ObjectMeta, 'labels' | 'annotations'> | undefined;
}

/** newCopy is a copy that does not exist yet. */
export function newCopy(
  key: ObjectKey,
  desired: DesiredCopy,
  applied: Applied,
  { at, kept }: NewCopyOptions,
): ConfigMap {
  const { namespace, name } = key;
  const annotations = { ...kept?.annotations, ...annotationsOf(desired, applied), [ANNOTATIONS.syncedAt]: at };
  return {
    metadata: {
      namespace,
      name,
      labels: { ...kept?.labels, ...desired.labels },
      annotations: withoutNulls(annotations),
    },
    ...contentMembers(applied.content),
  };
}

/** contentMembers is content as it stands in a ConfigMap. */
export function contentMembers({ data, binaryData }: Content): Pick<ConfigMap, 'data' | 'binaryData'> {
  // The API server drops empty maps; sending none makes the answer what was sent.
  return { ...(isEmpty(data) ? {} : { data }), ...(isEmpty(binaryData) ? {} : { binaryData }) };
}

/** PatchOptions says what else a patch of a copy changes. */
export interface PatchOptions {
  readonly at: string;
  /** Whether its content is written too, or only labels and annotations. */
  readonly withContent: boolean;
  /** Whether it was somebody else's until now. */
  readonly adopts?: boolean | undefined;
}

/**
 * patchOf is the strategic merge patch that makes a copy what it should be, if it is still what `copy` says: it carries uid and
 * resourceVersion. Content is replaced as a whole; labels and annotations of others stay.
 */
export function patchOf(copy: CopyView, desired: DesiredCopy, applied: Applied, options: PatchOptions): object {
  const { at, withContent, adopts = false } = options;
  const { managedMetadata, marks } = copy;
  const isNews = withContent || marks.syncedAt === undefined;
  return {
    metadata: {
      uid: copy.uid,
      resourceVersion: copy.resourceVersion,
      labels: { ...nulls(managedMetadata.labels), ...desired.labels },
      annotations: {
        ...nulls(managedMetadata.annotations),
        [ANNOTATIONS.managedMetadata]: null,
        ...annotationsOf(desired, applied),
        ...(isNews ? { [ANNOTATIONS.syncedAt]: at } : {}),
        ...(adopts ? adoptionOf(copy) : {}),
      },
    },
    ...(withContent ? replacing(applied.content, copy) : {}),
  };
}

/** stripPatch takes our marks off a copy, if it is still what `copy` says. Its content stays. */
export function stripPatch(copy: CopyView): object {
  const ours = Object.keys(copy.labels).filter((name) => name.startsWith(`${GROUP}/`));
  return {
    metadata: {
      uid: copy.uid,
      resourceVersion: copy.resourceVersion,
      labels: { ...nulls(ours), [MANAGED_BY]: copy.marks.previousManager ?? null },
      annotations: nulls(Object.values(ANNOTATIONS)),
    },
  };
}

/** contentPatch replaces the content of a ConfigMap, if it is still what `metadata` says, and nothing else in it. */
export function contentPatch({ uid, resourceVersion }: ObjectMeta, before: Content, after: Content): object {
  const there = { hasData: !isEmpty(before.data), hasBinaryData: !isEmpty(before.binaryData) };
  return { metadata: { uid, resourceVersion }, ...replacing(after, there) };
}

function annotationsOf(desired: DesiredCopy, applied: Applied): Changes {
  return {
    ...desired.annotations,
    ...desired.origin,
    [ANNOTATIONS.appliedHash]: applied.hash,
    [ANNOTATIONS.managedKeys]: applied.managedKeys ?? null,
    [ANNOTATIONS.base]: applied.base ?? null,
  };
}

function adoptionOf({ labels, marks }: CopyView): Texts {
  const manager = labels[MANAGED_BY];
  const previous = manager === undefined || manager === MANAGER ? marks.previousManager : manager;
  return {
    [ANNOTATIONS.adopted]: 'true',
    ...(previous === undefined ? {} : { [ANNOTATIONS.previousManager]: previous }),
  };
}

/** keptMetadata is what others have put on a copy: labels and annotations that are neither ours nor the spec's. */
export function keptMetadata(
  { labels = {}, annotations = {} }: ObjectMeta,
  { managedMetadata }: CopyView,
): Pick<ObjectMeta, 'labels' | 'annotations'> {
  const ours = new Set([...managedMetadata.annotations, ...Object.values(ANNOTATIONS)]);
  const theirs = (values: Texts, isOurs: (name: string) => boolean): Texts =>
    Object.fromEntries(Object.entries(values).filter(([name]) => !isOurs(name)));
  return {
    labels: theirs(labels, (name) => managedMetadata.labels.includes(name)),
    annotations: theirs(annotations, (name) => ours.has(name)),
  };
}

function replacing(
  { data, binaryData }: Content,
  { hasData, hasBinaryData }: Pick<CopyView, 'hasData' | 'hasBinaryData'>,
): object {
  return { data: replaced(data, hasData), binaryData: replaced(binaryData, hasBinaryData) };
}

/**
 * A strategic merge patch merges maps unless it says that one is replaced. No key of a ConfigMap can have that name. Where there
 * is no map to replace, the API server would drop the whole of such a patch without a word.
 */
function replaced(values: Texts, isThere: boolean): object | null {
  if (isEmpty(values)) return null;
  return isThere ? { $patch: 'replace', ...values } : values;
}

function nulls(names: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

function withoutNulls(values: Changes): Texts {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null));
}

function isEmpty(values: Texts): boolean {
  return Object.keys(values).length === 0;
}
