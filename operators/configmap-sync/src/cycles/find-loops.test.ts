import { VirtualClock } from '@bowline/machinery';
import { AccessReviews } from '@bowline/runtime/access';
import { createClient } from '@bowline/runtime/client';
import { describe, expect, test } from 'vitest';
import { ReviewingTransport } from '../authorization/reviewing-transport.test-support.ts';
import { effectiveEdges } from './effective-edges.ts';
import { type Edge, findLoops } from './find-loops.ts';
import { type Sync, syncEdges } from './sync-edges.ts';

const edges = (...texts: string[]): Edge[] =>
  texts.map((text) => {
    const [by = '', from = '', to = ''] = text.split(/: | -> /);
    return { by, from, to };
  });
const texts = (found: readonly Edge[]): string[] => found.map(({ by, from, to }) => `${by}: ${from} -> ${to}`);

describe('findLoops', () => {
  test.each<[string, string[], { readonly closing: string[]; readonly back: string[] }]>([
    ['nothing', [], { closing: [], back: [] }],
    ['a single copy', ['x: a -> b'], { closing: [], back: [] }],
    ['a chain', ['x: a -> b', 'y: b -> c'], { closing: [], back: [] }],
    ['two that copy to each other', ['x: a -> b', 'y: b -> a'], { closing: ['x: a -> b'], back: ['y: b -> a'] }],
    [
      'a longer cycle, next to copies that are not part of it',
      ['x: a -> b', 'x: a -> d', 'y: b -> c', 'y: b -> e', 'z: c -> a'],
      { closing: ['x: a -> b'], back: ['y: b -> c', 'z: c -> a'] },
    ],
    [
      'several paths back',
      ['x: a -> b', 'y: b -> c', 'y: b -> a', 'z: c -> a'],
      { closing: ['x: a -> b'], back: ['y: b -> c', 'y: b -> a', 'z: c -> a'] },
    ],
    ['a cycle of others that it copies to', ['x: a -> b', 'y: b -> c', 'z: c -> b'], { closing: [], back: [] }],
    ['one that syncs both ways', ['x: a -> b', 'x: b -> a'], { closing: [], back: [] }],
    [
      'both ways, and a path back through others',
      ['x: a -> b', 'x: b -> a', 'y: a -> c', 'z: c -> b'],
      { closing: ['x: b -> a'], back: ['y: a -> c', 'z: c -> b'] },
    ],
    ['two fan-outs of one source', ['x: a -> b', 'y: a -> b'], { closing: [], back: [] }],
    [
      'one both ways inside of a cycle',
      ['x: a -> b', 'y: b -> c', 'y: c -> b', 'z: c -> a'],
      { closing: ['x: a -> b'], back: ['y: b -> c', 'y: c -> b', 'z: c -> a'] },
    ],
  ])('sees %s', (_, given, expected) => {
    const { closing, back } = findLoops(edges(...given), 'x');
    expect({ closing: texts(closing), back: texts(back) }).toEqual(expected);
  });
});

const sync = (key: string, source: string, destination: string, change: Partial<Sync['spec']> = {}): Sync => {
  const [sourceNamespace = '', configMapName = ''] = source.split('/');
  const [namespace = '', name = ''] = destination.split('/');
  return {
    key,
    spec: {
      sourceNamespace,
      configMapName,
      destinations: [{ namespace, name }],
      excludeNamespaces: [],
      direction: 'OneWay',
      ...change,
    },
  };
};

describe('syncEdges', () => {
  const closing = (found: readonly Edge[], of: string): string[] => texts(findLoops(found, of).closing);
  const namespaces = ['a', 'b', 'c'].map((name) => ({ name, labels: {}, terminating: false }));

  test('finds a cycle through a selector', () => {
    const all = sync('n/all', 'a/m', 'b/m', { destinations: [], destinationSelector: {} });
    const back = sync('n/back', 'c/m', 'a/m');
    expect(closing(syncEdges(all, [all, back], namespaces), 'n/all')).toEqual(['n/all: a/m -> c/m']);
    expect(closing(syncEdges(back, [all, back], namespaces), 'n/back')).toEqual(['n/back: c/m -> a/m']);
  });

  test('omits copies that are not copied further', () => {
    const all = sync('n/all', 'a/m', 'b/m', { destinations: [], destinationSelector: {} });
    const unrelated = sync('n/other', 'x/m', 'y/m');
    expect(syncEdges(all, [all, unrelated], namespaces)).toEqual([]);
  });

  test('uses the changed spec instead of the stored one', () => {
    const stored = sync('n/one', 'a/m', 'b/m');
    const back = sync('n/back', 'b/m', 'a/m');
    const changed = sync('n/one', 'a/m', 'c/m');
    expect(closing(syncEdges(stored, [stored, back], namespaces), 'n/one')).toEqual(['n/one: a/m -> b/m']);
    expect(closing(syncEdges(changed, [stored, back], namespaces), 'n/one')).toEqual([]);
  });

  test('follows a two-way sync in both directions', () => {
    const both = sync('n/both', 'a/m', 'b/m', { direction: 'Bidirectional' });
    expect(closing(syncEdges(both, [both], namespaces), 'n/both')).toEqual([]);
    const one = sync('n/one', 'a/m', 'c/m');
    const other = sync('n/other', 'c/m', 'b/m');
    expect(closing(syncEdges(one, [both, one, other], namespaces), 'n/one')).toEqual(['n/one: a/m -> c/m']);
  });
});

describe('effectiveEdges', () => {
  const all = edges(
    'team/author: a/m -> b/m',
    'team/poor: b/m -> a/m',
    'team/rich: b/m -> c/m',
    'wild/west: c/m -> a/m',
  );
  const syncs = [
    sync('team/author', 'a/m', 'b/m'),
    sync('team/poor', 'b/m', 'a/m', { serviceAccountName: 'poor' }),
    sync('team/rich', 'b/m', 'c/m', { serviceAccountName: 'rich' }),
    sync('wild/west', 'c/m', 'a/m'),
  ];

  test('are those of reviewed authors, and of accounts that may write the copy', async () => {
    const transport = new ReviewingTransport(
      ...['get configmaps b/m', 'create configmaps c/*', 'update configmaps c/m', 'delete configmaps c/m'],
    );
    const reviews = new AccessReviews({ client: createClient({ transport }), clock: new VirtualClock() });
    const authorizer = { reviews, isReviewed: (namespace: string) => namespace === 'team' };
    expect(texts(await effectiveEdges(all, syncs, authorizer))).toEqual([
      'team/author: a/m -> b/m',
      'team/rich: b/m -> c/m',
    ]);
  });
});
