import { isDeepStrictEqual } from 'node:util';
import { ANNOTATIONS, GROUP, LABELS, MANAGED_BY, MANAGER } from '@bowline/configmap-sync';
import type { ConfigMap, ObjectMeta } from '@bowline/kubernetes';

/** Content is what a ConfigMap holds. */
export type Content = Pick<ConfigMap, 'data' | 'binaryData'>;

/** CopyState is what should have become of a copy: kept in sync, let go and left where it is, or deleted. */
export type CopyState = 'synced' | 'released' | 'gone';

/** Expected is what must be there after a deed, in the namespaces of the copies. */
export interface Expected {
  /** The name of the copies. */
  readonly name: string;
  /** What copies hold: the source's content. */
  readonly content: Content;
  /** By namespace. */
  readonly copies: ReadonlyMap<string, CopyState>;
  /** ConfigMaps that stood where a copy should be, by namespace, as they were. They are adopted, and never deleted. */
  readonly before: ReadonlyMap<string, ConfigMap>;
  /** ConfigMaps of others that have the name of a backup, by namespace. */
  readonly occupied: ReadonlyMap<string, ConfigMap>;
}

/** backupName is what the operator calls a backup first; what comes behind it tells others apart. */
export function backupName(name: string): string {
  return `${name}-before-sync`;
}

/** judge says what is not as it must be. `found` are the ConfigMaps of all namespaces whose names begin with that of the copies. */
export function judge(found: readonly ConfigMap[], expected: Expected): readonly string[] {
  const byNamespace = new Map<string, ConfigMap[]>();
  for (const each of found) {
    const namespace = each.metadata?.namespace ?? '';
    byNamespace.set(namespace, [...(byNamespace.get(namespace) ?? []), each]);
  }
  return [...expected.copies].flatMap(([namespace, state]) => {
    const all = byNamespace.get(namespace) ?? [];
    const copy = all.find(({ metadata }) => metadata?.name === expected.name);
    const others = all.filter((each) => each !== copy);
    return [
      ...judgeCopy(copy, state, expected, namespace),
      ...judgeOccupied(others, expected.occupied.get(namespace)),
      ...judgeBackups(others, expected, namespace),
    ].map((problem) => `${namespace}: ${problem}`);
  });
}

function judgeCopy(
  copy: ConfigMap | undefined,
  state: CopyState,
  { content, before }: Expected,
  namespace: string,
): readonly string[] {
  const previous = before.get(namespace);
  if (!copy)
    return state === 'gone' && !previous ? [] : [previous ? 'the adopted ConfigMap is gone' : 'there is no copy'];
  if (state === 'gone' && !previous) return ['the copy is still there'];
  const { metadata = {} } = copy;
  return [
    ...(isDeepStrictEqual(contentOf(copy), contentOf(content)) ? [] : ["its content is not the source's"]),
    ...(previous && metadata.uid !== previous.metadata?.uid ? ['the adopted ConfigMap was replaced by another'] : []),
    ...(state === 'synced' ? judgeMarks(metadata, previous !== undefined) : judgeNoMarks(metadata)),
  ];
}

function judgeMarks({ labels = {}, annotations = {} }: ObjectMeta, isAdopted: boolean): readonly string[] {
  const isMarked =
    labels[MANAGED_BY] === MANAGER && LABELS.syncName in labels && ANNOTATIONS.appliedHash in annotations;
  return [
    ...(isMarked ? [] : ['it is not marked as a copy']),
    ...((annotations[ANNOTATIONS.adopted] === 'true') === isAdopted ? [] : ['whether it was adopted is forgotten']),
  ];
}

function judgeNoMarks({ labels = {}, annotations = {} }: ObjectMeta): readonly string[] {
  const marks = [...Object.keys(labels), ...Object.keys(annotations)].filter((name) => name.startsWith(`${GROUP}/`));
  const left = labels[MANAGED_BY] === MANAGER ? [...marks, MANAGED_BY] : marks;
  return left.length === 0 ? [] : [`it was let go with the marks ${left.join(', ')}`];
}

function judgeOccupied(others: readonly ConfigMap[], stranger: ConfigMap | undefined): readonly string[] {
  const { uid, resourceVersion } = stranger?.metadata ?? {};
  const isAsBefore = others.some(
    ({ metadata }) => metadata?.uid === uid && metadata?.resourceVersion === resourceVersion,
  );
  if (!stranger || isAsBefore) return [];
  return ["somebody else's ConfigMap with the name of a backup was changed"];
}

/** Exactly one backup, with all that was there, of what was adopted; nothing else. */
function judgeBackups(others: readonly ConfigMap[], expected: Expected, namespace: string): readonly string[] {
  const previous = expected.before.get(namespace);
  const stranger = expected.occupied.get(namespace);
  const backups = others.filter(({ metadata }) => metadata?.name !== stranger?.metadata?.name);
  if (!previous) return backups.map(({ metadata }) => `nobody asked for ${metadata?.name}`);
  const kept = backups.filter((each) => isDeepStrictEqual(contentOf(each), contentOf(previous)));
  if (kept.length === 0) return ['what the adopted ConfigMap held before is lost'];
  return backups.length === 1 ? [] : [`there are ${backups.length} backups`];
}

function contentOf({ data = {}, binaryData = {} }: Content): Required<Content> {
  return { data, binaryData };
}
