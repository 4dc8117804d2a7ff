import { describe, expect, it } from 'vitest';
import { ConfigMapSync } from './config-map-sync.ts';
import { labelValueOf } from './names.ts';

const minimal = { sourceNamespace: 'team-a', configMapName: 'settings', destinationNamespace: 'team-b' };

function problemsOf(spec: object): string[] {
  const object = { metadata: { namespace: 'team-a', name: 'settings' }, spec };
  return ConfigMapSync.validate(object).map(({ field }) => field);
}

describe('ConfigMapSync', () => {
  it('sets defaults', () => {
    const { spec } = ConfigMapSync.withDefaults({ spec: { ...minimal, destinations: [{ namespace: 'team-c' }] } });
    expect(spec).toMatchObject({
      direction: 'OneWay',
      conflictPolicy: 'SourceWins',
      deletionPolicy: 'Delete',
      sourceDeletionPolicy: 'Retain',
      adoptExisting: true,
      syncInterval: '10m',
      paused: false,
      excludeNamespaces: ['kube-system', 'kube-public', 'kube-node-lease'],
      destinations: [{ namespace: 'team-c', name: '' }],
    });
  });

  it.each([
    ['the three fields of the seed', {}],
    [
      'a copy in the namespace of its source with another name',
      { destinationNamespace: 'team-a', targetName: 'other' },
    ],
    [
      'a listed copy in the namespace of its source with another name',
      { destinations: [{ namespace: 'team-a', name: 'other' }] },
    ],
    ['no interval', { syncInterval: '0' }],
    ['both sides', { direction: 'Bidirectional', conflictPolicy: 'NewestWins' }],
    ['custom labels', { metadata: { labels: { 'app.kubernetes.io/part-of': 'shop', 'example.com/x': '' } } }],
  ])('accepts %s', (_, change) => {
    expect(problemsOf({ ...minimal, ...change })).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['no destination', { destinationNamespace: undefined }, 'spec'],
    ['an empty list as the only destination', { destinationNamespace: undefined, destinations: [] }, 'spec'],
    ['its source as destination', { destinationNamespace: 'team-a' }, 'spec.destinationNamespace'],
    ['its source in the list', { destinations: [{ namespace: 'team-a' }] }, 'spec.destinations'],
    ['a copy listed twice', { destinations: [{ namespace: 'c' }, { namespace: 'c' }] }, 'spec.destinations[1]'],
    ['an invalid name', { configMapName: 'Settings' }, 'spec.configMapName'],
    ['a short interval', { syncInterval: '9s' }, 'spec.syncInterval'],
    ['NewestWins one way', { conflictPolicy: 'NewestWins' }, 'spec.conflictPolicy'],
    ['Manual one way', { conflictPolicy: 'Manual' }, 'spec.conflictPolicy'],
    ['transforms both ways', { direction: 'Bidirectional', transforms: [{ prefix: 'a' }] }, 'spec.transforms'],
    ['keys both ways', { direction: 'Bidirectional', keys: { include: ['a'] } }, 'spec.keys'],
    ['a selector both ways', { direction: 'Bidirectional', destinationSelector: {} }, 'spec.direction'],
    ['two copies both ways', { direction: 'Bidirectional', destinations: [{ namespace: 'c' }] }, 'spec.direction'],
    ['two things in one transform', { transforms: [{ prefix: 'a', suffix: 'b' }] }, 'spec.transforms[0]'],
    ['nothing in a transform', { transforms: [{}] }, 'spec.transforms[0]'],
    ['a reserved label', { metadata: { labels: { 'sync.bowline.dev/x': '' } } }, 'spec.metadata.labels'],
    ['another manager', { metadata: { labels: { 'app.kubernetes.io/managed-by': 'me' } } }, 'spec.metadata.labels'],
    ['a reserved annotation', { metadata: { annotations: { 'bowline.dev/x': '' } } }, 'spec.metadata.annotations'],
  ])('rejects %s', (_, change, field) => {
    expect(problemsOf({ ...minimal, ...change })).toEqual([field]);
  });
});

describe('labelValueOf', () => {
  it('keeps a name that fits', () => {
    expect(labelValueOf('a'.repeat(63))).toBe('a'.repeat(63));
  });

  it('truncates a longer name to a valid and unique value', () => {
    const value = labelValueOf(`${'a'.repeat(51)}.${'b'.repeat(60)}`);
    expect(value).toMatch(/^a{51}-[0-9a-f]{10}$/);
    expect(labelValueOf(`${'a'.repeat(51)}.${'b'.repeat(61)}`)).not.toBe(value);
  });
});
