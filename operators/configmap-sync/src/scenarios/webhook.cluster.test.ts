import { isInvalid } from '@bowline/runtime/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusalOf } from '../../../../test/support/refusal-of.ts';
import { ConfigMapSync } from '../api/config-map-sync.ts';
import { type Scenario, type SpecChange, startScenario } from './scenario.test-support.ts';

let c: Scenario;
beforeAll(async () => {
  c = await startScenario();
});
afterAll(() => c[Symbol.asyncDispose]());

const both = { direction: 'Bidirectional' } as const;
const two = [
  { namespace: 'a', name: '' },
  { namespace: 'b', name: '' },
];
// A spec as a user writes it, without regard to types.
const cases: readonly (readonly [what: string, spec: object, field: string, message: string])[] = [
  [
    'no destination',
    { destinationNamespace: null },
    'spec',
    'set destinationNamespace, destinations or destinationSelector',
  ],
  [
    'an empty list of destinations',
    { destinationNamespace: null, destinations: [] },
    'spec',
    'a destination is missing',
  ],
  [
    'one ConfigMap as source and target',
    { sourceNamespace: 'a', destinationNamespace: 'a' },
    'spec.destinationNamespace',
    'choose another namespace or another name',
  ],
  ['the same destination twice', { destinations: [two[0], two[0]] }, 'spec.destinations[1]', 'Duplicate value'],
  [
    'too many destinations',
    { destinations: Array.from({ length: 257 }, (_, n) => ({ namespace: `n-${n}` })) },
    'spec.destinations',
    'must have at most 256 items',
  ],
  ['no source', { configMapName: null }, 'spec.configMapName', 'Required value'],
  ['an invalid source', { sourceNamespace: 'No_Name' }, 'spec.sourceNamespace', 'should match'],
  ['an invalid target', { targetName: 'No Name' }, 'spec.targetName', 'should match'],
  ['an unknown policy', { conflictPolicy: 'Overwrite' }, 'spec.conflictPolicy', 'supported values: "SourceWins"'],
  [
    'a policy that needs the other direction',
    { conflictPolicy: 'Manual' },
    'spec.conflictPolicy',
    'use SourceWins, SkipIfModified or Merge',
  ],
  [
    'transforms in both directions',
    { ...both, transforms: [{ prefix: 'a' }] },
    'spec.transforms',
    'remove them, or set direction to OneWay',
  ],
  [
    'keys in both directions',
    { ...both, keys: { include: ['a'] } },
    'spec.keys',
    'remove it, or set direction to OneWay',
  ],
  [
    'many destinations in both directions',
    { ...both, destinations: two },
    'spec.direction',
    'exactly one destination, specified by name',
  ],
  ['an interval that is too short', { syncInterval: '5s' }, 'spec.syncInterval', 'must be 0 or at least 10s'],
  ['an invalid interval', { syncInterval: 'soon' }, 'spec.syncInterval', 'duration'],
  ['a transform that does nothing', { transforms: [{}] }, 'spec.transforms[0]', 'rename'],
  ['a transform that does two things', { transforms: [{ prefix: 'a', suffix: 'b' }] }, 'spec.transforms[0]', 'rename'],
  [
    'an invalid key',
    { transforms: [{ set: { key: 'a b', value: '1' } }] },
    'spec.transforms[0].set.key',
    'should match',
  ],
  [
    'a key that the API server reserves',
    { transforms: [{ rename: { from: 'a', to: '..a' } }] },
    'spec.transforms[0].rename.to',
    "must not be '.' or start with '..'",
  ],
  [
    'an invalid pattern',
    { transforms: [{ replace: { pattern: '(', replacement: '' } }] },
    'spec.transforms[0].replace',
    'missing closing )',
  ],
  [
    'an invalid template',
    { transforms: [{ template: { key: 'a', template: '{{ data. }}' } }] },
    'spec.transforms[0].template.template',
    'Invalid value',
  ],
  [
    'a reserved label',
    { metadata: { labels: { 'sync.bowline.dev/sync-name': 'x' } } },
    'spec.metadata.labels',
    'are reserved; choose others',
  ],
  ['an invalid label', { metadata: { labels: { 'a b': 'x' } } }, 'spec.metadata.labels', '"a b"'],
  [
    'an invalid selector',
    { destinationSelector: { matchExpressions: [{ key: 'a', operator: 'Is' }] } },
    'spec.destinationSelector',
    'operator',
  ],
];

it.each(cases)(
  'scenario 15 rejects a spec with %s, and reports field, problem and remedy',
  async (_, change, field, message) => {
    const spec = { sourceNamespace: c.namespace, configMapName: 'bad', destinationNamespace: c.target, ...change };
    const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
    const object = { metadata: c.from('bad'), spec: given } as unknown as ConfigMapSync;
    const error = await refusalOf(c.admin.create(ConfigMapSync, object));
    expect(isInvalid(error), error.message).toBe(true);
    expect(error.status).toBe(422);
    expect(
      error.causes.map((cause) => cause.field?.startsWith(field)),
      error.message,
    ).toContain(true);
    expect(error.message).toContain(message);
  },
);

it('scenario 15 rejects a change to an invalid spec', async () => {
  await c.source('changed');
  await c.sync('changed');
  await c.untilReady('changed');
  const refused: readonly (readonly [SpecChange, string])[] = [
    [{ transforms: [{ template: { key: 'a', template: '{{' } }] }, 'spec.transforms[0].template.template'],
    [{ direction: 'Bidirectional', transforms: [{ prefix: 'a' }] }, 'spec.transforms'],
    [{ destinationNamespace: c.namespace }, 'spec.destinationNamespace'],
  ];
  for (const [spec, field] of refused) {
    const error = await refusalOf(c.change('changed', spec));
    expect(error.causes).toMatchObject([{ field }]);
  }
  const { metadata } = await c.admin.get(ConfigMapSync, c.from('changed'));
  expect(metadata?.generation).toBe(1);
});

it('scenario 15 blocks neither metadata changes nor deletion while the webhook is unavailable', async () => {
  await c.source('silent');
  await c.sync('silent');
  await c.untilReady('silent');
  await c.idle();
  await c.stop();
  const error = await refusalOf(c.change('silent', { paused: true }));
  expect(error.message).toContain('failed calling webhook');
  const body = { metadata: { annotations: { note: 'a' } } };
  await c.admin.patch(ConfigMapSync, c.from('silent'), { type: 'merge', body });
  await c.admin.delete(ConfigMapSync, c.from('silent'));
  await c.restart();
  await c.untilGone(ConfigMapSync, c.from('silent'));
});
