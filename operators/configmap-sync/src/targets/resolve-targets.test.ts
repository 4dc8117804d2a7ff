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
const shown = ({ namespace, name, selected, problem }: Target): string =>
  `${namespace}/${name}${selected ? '*' : ''}${problem ? ` ${problem}` : ''}`;

describe('resolveTargets', () => {
  test.each<[string, Partial<TargetSpec>, string[]]>([
    ['one namespace', { destinationNamespace: 'blue' }, ['blue/settings']],
    ['another name', { destinationNamespace: 'blue', targetName: 'other' }, ['blue/other']],
    ['a namespace that is not there', { destinationNamespace: 'nowhere' }, ['nowhere/settings NamespaceMissing']],
    ['a namespace that is going', { destinationNamespace: 'going' }, ['going/settings NamespaceTerminating']],
    [
      'a list, sorted, with names of their own',
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
      'an empty selector, without the source and what is excluded',
      { destinationSelector: {} },
      ['blue/settings*', 'red/settings*'],
    ],
    [
      'a selector beside the source under another name',
      { destinationSelector: {}, targetName: 'other', excludeNamespaces: ['kube-*', 'going', 'red'] },
      ['blue/other*', 'source/other*'],
    ],
    [
      'everything once nothing is excluded',
      { destinationSelector: { matchLabels: { team: 'cluster' } }, excludeNamespaces: [] },
      ['kube-system/settings*'],
    ],
    ['an excluded namespace that is named', { destinationNamespace: 'kube-system' }, ['kube-system/settings']],
    [
      'what is both named and selected, once',
      {
        destinationNamespace: 'blue',
        destinations: [{ namespace: 'blue', name: 'settings' }],
        destinationSelector: { matchLabels: { team: 'blue' } },
      },
      ['blue/settings'],
    ],
    ['the source itself as nothing', { destinations: [{ namespace: 'source', name: '' }] }, []],
    ['no destination', {}, []],
  ])('resolves %s', (_, change, targets) => {
    expect(resolveTargets(spec(change), namespaces).map(shown)).toEqual(targets);
  });

  test('takes named destinations at their word while namespaces are not visible, and selects nothing', () => {
    const given = spec({ destinationNamespace: 'nowhere', destinationSelector: {} });
    expect(resolveTargets(given, undefined).map(shown)).toEqual(['nowhere/settings']);
  });
});
