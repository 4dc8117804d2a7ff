import { isDeepStrictEqual } from 'node:util';
import { ANNOTATIONS, GROUP, LABELS, MANAGED_BY, MANAGER } from '@bowline/configmap-sync';
import type { ConfigMap, ObjectMeta } from '@bowline/kubernetes';

/** Content is the content of a ConfigMap. */
export type Content = Pick<ConfigMap, 'data' | 'binaryData'>;

/** CopyState is the expected state of a copy: kept in sync, released and left in place, or deleted. */
export type CopyState = 'synced' | 'released' | 'gone';

/** Expected is the expected state after an action, in the namespaces of the copies. */
export interface Expected {
  /** The name of the copies. */
  readonly name: string;
  /** The content of copies: that of the source. */
  readonly content: Content;
  /** By namespace. */
  readonly copies: ReadonlyMap<string, CopyState>;
  /** The previous ConfigMaps at the place of a copy, by namespace. They are adopted, and never deleted. */
  readonly before: ReadonlyMap<string, ConfigMap>;
  /** ConfigMaps of other owners that have the name of a backup, by namespace. */
  readonly occupied: ReadonlyMap<string, ConfigMap>;
}

/** backupName returns the operator's first choice for the name of a backup; further backups get a suffix. */
export function backupName(name: string): string {
  return `${name}-before-sync`;
}

/** judge returns what is wrong. `found` are the ConfigMaps of all namespaces whose names start with that of the copies. */
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
    return state === 'gone' && !previous
      ? []
      : [previous ? 'the adopted ConfigMap was deleted' : 'the copy is missing'];
  if (state === 'gone' && !previous) return ['the copy still exists'];
  const { metadata = {} } = copy;
  return [
    ...(isDeepStrictEqual(contentOf(copy), contentOf(content)) ? [] : ['its content differs from the source']),
    ...(previous && metadata.uid !== previous.metadata?.uid
      ? ['the adopted ConfigMap was replaced by another object']
      : []),
    ...(state === 'synced' ? judgeOwnership(metadata, previous !== undefined) : judgeReleased(metadata)),
  ];
}

function judgeOwnership({ labels = {}, annotations = {} }: ObjectMeta, isAdopted: boolean): readonly string[] {
  const isMarked =
    labels[MANAGED_BY] === MANAGER && LABELS.syncName in labels && ANNOTATIONS.appliedHash in annotations;
  return [
    ...(isMarked ? [] : ['it is not annotated as a copy']),
    ...((annotations[ANNOTATIONS.adopted] === 'true') === isAdopted ? [] : ['the adopted annotation is wrong']),
  ];
}

function judgeReleased({ labels = {}, annotations = {} }: ObjectMeta): readonly string[] {
  const ownershipAnnotations = [...Object.keys(labels), ...Object.keys(annotations)].filter((name) =>
    name.startsWith(`${GROUP}/`),
  );
  const left = labels[MANAGED_BY] === MANAGER ? [...ownershipAnnotations, MANAGED_BY] : ownershipAnnotations;
  return left.length === 0 ? [] : [`it was released with the annotations ${left.join(', ')}`];
}

function judgeOccupied(others: readonly ConfigMap[], stranger: ConfigMap | undefined): readonly string[] {
  const { uid, resourceVersion } = stranger?.metadata ?? {};
  const isAsBefore = others.some(
    ({ metadata }) => metadata?.uid === uid && metadata?.resourceVersion === resourceVersion,
  );
  if (!stranger || isAsBefore) return [];
  return ["another owner's ConfigMap with the name of a backup was changed"];
}

/** Exactly one complete backup of an adopted ConfigMap; nothing else. */
function judgeBackups(others: readonly ConfigMap[], expected: Expected, namespace: string): readonly string[] {
  const previous = expected.before.get(namespace);
  const stranger = expected.occupied.get(namespace);
  const backups = others.filter(({ metadata }) => metadata?.name !== stranger?.metadata?.name);
  if (!previous) return backups.map(({ metadata }) => `${metadata?.name} is unexpected`);
  const kept = backups.filter((each) => isDeepStrictEqual(contentOf(each), contentOf(previous)));
  if (kept.length === 0) return ['the previous content of the adopted ConfigMap is lost'];
  return backups.length === 1 ? [] : [`there are ${backups.length} backups`];
}

function contentOf({ data = {}, binaryData = {} }: Content): Required<Content> {
  return { data, binaryData };
}
