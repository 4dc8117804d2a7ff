import { describe, expect, test } from 'vitest';
import { type Edge, findCycle } from './find-cycle.ts';
import { type Sync, syncEdges } from './sync-edges.ts';

const edges = (...texts: string[]): Edge[] =>
  texts.map((text) => {
    const [by = '', from = '', to = ''] = text.split(/: | -> /);
    return { by, from, to };
  });

describe('findCycle', () => {
  test.each<[string, Edge[], readonly string[] | undefined]>([
    ['nothing', [], undefined],
    ['a single copy', edges('x: a -> b'), undefined],
    ['a chain', edges('x: a -> b', 'y: b -> c'), undefined],
    ['two that feed each other', edges('x: a -> b', 'y: b -> a'), ['a', 'b', 'a']],
    ['a longer round', edges('x: a -> b', 'y: b -> c', 'z: c -> a'), ['a', 'b', 'c', 'a']],
    ['the shortest of several', edges('x: a -> b', 'y: b -> c', 'y: b -> a', 'z: c -> a'), ['a', 'b', 'a']],
    ['a round of others that it feeds', edges('x: a -> b', 'y: b -> c', 'z: c -> b'), undefined],
    ['one that syncs both ways', edges('x: a -> b', 'x: b -> a'), undefined],
    ['both ways, and back by another', edges('x: a -> b', 'x: b -> a', 'y: a -> c', 'z: c -> b'), ['b', 'a', 'c', 'b']],
    ['two fan-outs of one source', edges('x: a -> b', 'y: a -> b'), undefined],
    [
      'one both ways inside of a round',
      edges('x: a -> b', 'y: b -> c', 'y: c -> b', 'z: c -> a'),
      ['a', 'b', 'c', 'a'],
    ],
  ])('sees %s as %j', (_, given, path) => {
    expect(findCycle(given, 'x')).toEqual(path);
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
  const namespaces = ['a', 'b', 'c'].map((name) => ({ name, labels: {}, terminating: false }));

  test('finds a round through a selector', () => {
    const all = sync('n/all', 'a/m', 'b/m', { destinations: [], destinationSelector: {} });
    const back = sync('n/back', 'c/m', 'a/m');
    expect(findCycle(syncEdges(all, [all, back], namespaces), 'n/all')).toEqual(['a/m', 'c/m', 'a/m']);
    expect(findCycle(syncEdges(back, [all, back], namespaces), 'n/back')).toEqual(['c/m', 'a/m', 'c/m']);
  });

  test('leaves out copies that nobody copies further', () => {
    const all = sync('n/all', 'a/m', 'b/m', { destinations: [], destinationSelector: {} });
    const unrelated = sync('n/other', 'x/m', 'y/m');
    expect(syncEdges(all, [all, unrelated], namespaces)).toEqual([]);
  });

  test('judges a change, not what is stored', () => {
    const stored = sync('n/one', 'a/m', 'b/m');
    const back = sync('n/back', 'b/m', 'a/m');
    const changed = sync('n/one', 'a/m', 'c/m');
    expect(findCycle(syncEdges(stored, [stored, back], namespaces), 'n/one')).toEqual(['a/m', 'b/m', 'a/m']);
    expect(findCycle(syncEdges(changed, [stored, back], namespaces), 'n/one')).toBeUndefined();
  });

  test('lets what is synced both ways flow either way', () => {
    const both = sync('n/both', 'a/m', 'b/m', { direction: 'Bidirectional' });
    expect(findCycle(syncEdges(both, [both], namespaces), 'n/both')).toBeUndefined();
    const one = sync('n/one', 'a/m', 'c/m');
    const other = sync('n/other', 'c/m', 'b/m');
    expect(findCycle(syncEdges(one, [both, one, other], namespaces), 'n/one')).toEqual(['a/m', 'c/m', 'b/m', 'a/m']);
  });
});
