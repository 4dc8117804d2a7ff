import { describe, expect, test } from 'vitest';
import { type NamespaceView, resolveTargets, type Target, type TargetSpec } from './resolve-targets.ts';

const namespace = (name: string, labels: Record<string, string> = {}, terminating = false): NamespaceView => ({
  name,
  labels,
  terminating,
});

const namespaces = [
  namespace('source'),
  namespace('blue', { team: 'blue' }),
  namespace('red', { team: 'red' }),
  namespace('going', { team: 'going' }, true),
  namespace('kube-system', { team: 'cluster' }),
  namespace('kube-public'),
];

const spec = (change: Partial<TargetSpec>): TargetSpec => ({
  sourceNamespace: 'source',
  configMapName: 'settings',
  excludeNamespaces: ['kube-*'],
  ...change,
});

/** `namespace/name`, with `*` for selected ones and the problem, if any. */
const format = ({ namespace, name, selected, problem }: Target): string =>
  `${namespace}/${name}${selected ? '*' : ''}${problem ? ` ${problem}` : ''}`;

describe('resolveTargets', () => {
  test.each<[string, Partial<TargetSpec>, string[]]>([
    ['one namespace', { destinationNamespace: 'blue' }, ['blue/settings']],
    ['another name', { destinationNamespace: 'blue', targetName: 'other' }, ['blue/other']],
    ['a missing namespace', { destinationNamespace: 'nowhere' }, ['nowhere/settings NamespaceMissing']],
    ['a namespace that is being deleted', { destinationNamespace: 'going' }, ['going/settings NamespaceTerminating']],
    [
      'a list, sorted, with individual names',
      {
        destinations: [
          { namespace: 'red', name: '' },
          { namespace: 'blue', name: 'mine' },
          { namespace: 'blue', name: '' },
        ],
      },
      ['blue/mine', 'blue/settings', 'red/settings'],
    ],
    [
      'a list that falls back to targetName',
      { targetName: 'other', destinations: [{ namespace: 'red', name: '' }] },
      ['red/other'],
    ],
    [
      'a selector',
      { destinationSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] } },
      ['blue/settings*', 'red/settings*'],
    ],
    [
      'an empty selector, except for the source and excluded namespaces',
      { destinationSelector: {} },
      ['blue/settings*', 'red/settings*'],
    ],
    [
      'a selector that includes the namespace of the source, with another name',
      { destinationSelector: {}, targetName: 'other', excludeNamespaces: ['kube-*', 'going', 'red'] },
      ['blue/other*', 'source/other*'],
    ],
    [
      'all namespaces if none is excluded',
      { destinationSelector: { matchLabels: { team: 'cluster' } }, excludeNamespaces: [] },
      ['kube-system/settings*'],
    ],
    [
      'an excluded namespace that is a named destination',
      { destinationNamespace: 'kube-system' },
      ['kube-system/settings'],
    ],
    [
      'a namespace that is both named and selected, only once',
      {
        destinationNamespace: 'blue',
        destinations: [{ namespace: 'blue', name: 'settings' }],
        destinationSelector: { matchLabels: { team: 'blue' } },
      },
      ['blue/settings'],
    ],
    ['no target for the source itself', { destinations: [{ namespace: 'source', name: '' }] }, []],
    ['no destination', {}, []],
  ])('resolves %s', (_, change, targets) => {
    expect(resolveTargets(spec(change), namespaces).map(format)).toEqual(targets);
  });

  test('assumes that named namespaces exist, and selects none, if namespaces cannot be read', () => {
    const given = spec({ destinationNamespace: 'nowhere', destinationSelector: {} });
    expect(resolveTargets(given, undefined).map(format)).toEqual(['nowhere/settings']);
  });
});
