import { ANNOTATIONS, LABELS, MANAGED_BY, MANAGER } from '@bowline/configmap-sync';
import type { ConfigMap } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { backupName, type CopyState, type Expected, judge } from './judge.ts';

const name = 'case';
const content = { data: { a: '1' }, binaryData: { b: 'AA==' } };
const old = { data: { mine: 'x' } };
const ownershipAnnotations = {
  labels: { [MANAGED_BY]: MANAGER, [LABELS.syncName]: name },
  annotations: { [ANNOTATIONS.appliedHash]: 'hash' },
};

function configMap(namespace: string, metadata: ConfigMap['metadata'], held: object): ConfigMap {
  return { metadata: { name, uid: namespace, ...metadata, namespace }, ...held };
}

const stranger = configMap(
  'occupied',
  { name: backupName(name), uid: 'stranger', resourceVersion: '1' },
  { data: { theirs: 'y' } },
);
const backup = (namespace: string, suffix = '') => configMap(namespace, { name: `${backupName(name)}${suffix}` }, old);
const adopted = (namespace: string) =>
  configMap(
    namespace,
    { ...ownershipAnnotations, annotations: { ...ownershipAnnotations.annotations, [ANNOTATIONS.adopted]: 'true' } },
    content,
  );
const copy = configMap('plain', ownershipAnnotations, content);
const others = [adopted('taken'), backup('taken'), adopted('occupied'), stranger, backup('occupied', '-0a1b2c3d')];

function expected(state: CopyState): Expected {
  return {
    name,
    content,
    copies: new Map(['plain', 'taken', 'occupied'].map((namespace) => [namespace, state])),
    before: new Map([
      ['taken', configMap('taken', {}, old)],
      ['occupied', configMap('occupied', {}, old)],
    ]),
    occupied: new Map([['occupied', stranger]]),
  };
}

/** Without ownership annotations, like released objects. */
const bare = (each: ConfigMap) => ({
  ...each,
  metadata: { ...each.metadata, labels: undefined, annotations: undefined },
});

describe('judge', () => {
  it.each<[CopyState, readonly ConfigMap[]]>([
    ['synced', [copy, ...others]],
    ['released', [copy, ...others].map(bare)],
    ['gone', others.map(bare)],
  ])('finds no problem if all copies are %s', (state, found) => {
    expect(judge(found, expected(state))).toEqual([]);
  });

  it.each<[string, CopyState, readonly ConfigMap[]]>([
    ['plain: the copy is missing', 'synced', others],
    ['plain: its content differs from the source', 'synced', [{ ...copy, data: { a: '2' } }, ...others]],
    ['plain: it is not annotated as a copy', 'synced', [bare(copy), ...others]],
    ['plain: the copy still exists', 'gone', [copy, ...others].map(bare)],
    ['plain: case-before-sync is unexpected', 'synced', [copy, backup('plain'), ...others]],
    ['taken: the adopted ConfigMap was deleted', 'gone', others.slice(1).map(bare)],
    [
      'taken: the previous content of the adopted ConfigMap is lost',
      'synced',
      [copy, ...others.filter((_, n) => n !== 1)],
    ],
    ['taken: there are 2 backups', 'synced', [copy, ...others, backup('taken', '-0a1b2c3d')]],
    [
      'taken: the adopted ConfigMap was replaced by another object',
      'synced',
      [copy, { ...adopted('taken'), metadata: { ...adopted('taken').metadata, uid: 'new' } }, ...others.slice(1)],
    ],
    [
      'taken: the adopted annotation is wrong',
      'synced',
      [copy, configMap('taken', ownershipAnnotations, content), ...others.slice(1)],
    ],
  ])('reports "%s"', (problem, state, found) => {
    expect(judge(found, expected(state))).toEqual([problem]);
  });

  it('reports remaining annotations, and a changed ConfigMap of another owner', () => {
    const changed = { ...stranger, metadata: { ...stranger.metadata, resourceVersion: '2' } };
    const found = others.map((each) => (each === stranger ? changed : each));
    expect(judge(found, expected('gone'))).toEqual([
      expect.stringContaining('taken: it was released with the annotations'),
      expect.stringContaining('occupied: it was released with the annotations'),
      "occupied: another owner's ConfigMap with the name of a backup was changed",
    ]);
  });
});
