import { SAMPLES } from '../../../support/sample-objects.ts';
import { type Case, JSON_PATCH, MERGE, patch, post, put, STRATEGIC } from '../step.ts';

const MAPS = '/api/v1/namespaces/NS/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/NS/deployments';
const WIDGETS = '/apis/proof.bowline.dev/v1/namespaces/NS/widgets';
const sampleOf = (kind: string): unknown => SAMPLES.find((each) => each.kind === kind)?.object;
const map = { metadata: { name: 'sample', labels: { a: '1' } }, data: { a: 'b', c: 'd' } };

const OPERATIONS: readonly unknown[] = [
  [{ op: 'add', path: '/data/x', value: 'y' }],
  [{ op: 'add', path: '/data/x', value: 5 }],
  [{ op: 'replace', path: '/data/nope', value: 'y' }],
  [{ op: 'remove', path: '/data/nope' }],
  [{ op: 'remove', path: '/data/a' }],
  [{ op: 'move', from: '/data/c', path: '/data/d' }],
  [{ op: 'move', from: '/data/nope', path: '/data/d' }],
  [{ op: 'copy', from: '/data/x', path: '/data/y' }],
  [{ op: 'test', path: '/data/x', value: 'y' }],
  [{ op: 'test', path: '/data/x', value: 'z' }],
  [{ op: 'test', path: '/data/nope', value: null }],
  [{ op: 'nope', path: '/data/x' }],
  [{ path: '/data/x', value: 'y' }],
  [{ op: 'add', value: 'y' }],
  [{ op: 'add', path: '/data/~1~0', value: 'y' }],
  [{ op: 'add', path: '/metadata/finalizers/-', value: 'a/b' }],
  [{ op: 'add', path: '', value: {} }],
  [{ op: 'replace', path: '/kind', value: 'Secret' }],
  [{ op: 'replace', path: '/metadata/name', value: 'other' }],
  [{ op: 'remove', path: '/metadata/name' }],
  [{ op: 'remove', path: '/metadata' }],
  [{ op: 'add', path: '/unknown', value: 1 }],
  [{ op: 'replace', path: '/metadata/resourceVersion', value: '1' }],
  [],
  {},
  null,
  [null],
  [1],
  '[{"op":',
  '',
];

const MERGES: readonly unknown[] = [
  { data: { a: null, x: 'y' } },
  { data: null },
  { data: { a: 5 } },
  { data: 'x' },
  { metadata: { name: 'other' } },
  { metadata: { namespace: 'other' } },
  { metadata: { uid: 'other' } },
  { metadata: { resourceVersion: '1' } },
  { metadata: { labels: { 'a b': 'c' } } },
  { metadata: { creationTimestamp: null, generation: 7 } },
  { metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } },
  { metadata: { managedFields: [] } },
  { metadata: null },
  { apiVersion: 'v2' },
  { kind: 'Secret' },
  { unknown: 1 },
  {},
  [],
  null,
  1,
  '{"data":',
  '{"data":{"a":"1","a":"2"}}',
];

const STRATEGICS: readonly unknown[] = [
  { spec: { template: { spec: { containers: [{ name: 'main', image: 'other' }] } } } },
  { spec: { template: { spec: { containers: [{ name: 'second', image: 'other' }] } } } },
  { spec: { template: { spec: { containers: [{ name: 'second', $patch: 'delete' }] } } } },
  { spec: { template: { spec: { containers: [{ image: 'nameless' }] } } } },
  { spec: { template: { spec: { containers: [{ name: 'main', env: [{ name: 'C', value: 'c' }] }] } } } },
  {
    spec: {
      template: { spec: { containers: [{ name: 'main', env: [{ $patch: 'replace' }, { name: 'D', value: 'd' }] }] } },
    },
  },
  {
    spec: { template: { spec: { containers: [{ name: 'main', ports: [{ containerPort: 8080, protocol: 'UDP' }] }] } } },
  },
  { spec: { template: { spec: { $setElementOrder: [], tolerations: [] } } } },
  { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
  { spec: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2 } } } },
  { spec: { replicas: null } },
  { spec: { replicas: 'x' } },
  { spec: { selector: { matchLabels: { other: 'x' } } } },
  { metadata: { finalizers: ['a/b'], '$setElementOrder/finalizers': ['a/b'] } },
  { metadata: { '$deleteFromPrimitiveList/finalizers': ['a/b'] } },
  { metadata: { finalizers: ['c/d'], '$setElementOrder/finalizers': ['e/f'] } },
  { $patch: 'delete' },
  { $patch: 'nope' },
  { metadata: { $patch: 'replace', name: 'sample' } },
  { spec: [] },
  { unknown: 1 },
  [],
  null,
  '{"spec":',
];

/** patches covers every type of patch. */
export const patches: readonly Case[] = [
  {
    name: 'JSON patches',
    steps: [post(MAPS, map), ...OPERATIONS.map((each) => patch(`${MAPS}/sample`, each ?? 'null', JSON_PATCH))],
  },
  {
    name: 'JSON patches of a custom resource',
    steps: [
      post(WIDGETS, sampleOf('Widget')),
      ...OPERATIONS.map((each) =>
        patch(
          `${WIDGETS}/sample`,
          JSON.parse(JSON.stringify(each ?? null).replaceAll('/data/', '/spec/free/')) ?? 'null',
          JSON_PATCH,
        ),
      ),
    ],
  },
  {
    name: 'merge patches',
    steps: [post(MAPS, map), ...MERGES.map((each) => patch(`${MAPS}/sample`, each ?? 'null', MERGE))],
  },
  {
    name: 'merge patches of a custom resource',
    steps: [
      post(WIDGETS, sampleOf('Widget')),
      ...MERGES.map((each) => patch(`${WIDGETS}/sample`, each ?? 'null', MERGE)),
      patch(`${WIDGETS}/sample`, { spec: { size: 11, color: 'pink', title: 'x', tags: ['a', 'a'] } }, MERGE),
      patch(`${WIDGETS}/sample`, { spec: { color: 'blue', size: 7 } }, MERGE),
      patch(`${WIDGETS}/sample`, { spec: { frozen: 'fire' } }, MERGE),
      patch(`${WIDGETS}/sample`, { spec: { parts: [{ name: 'a' }, { name: 'a' }], unknown: 1 } }, MERGE),
      patch(`${WIDGETS}/sample?fieldValidation=Strict`, { spec: { unknown: 1 } }, MERGE),
      patch(`${WIDGETS}/sample`, { spec: { maybe: null, size: null } }, MERGE),
      patch(`${WIDGETS}/sample`, {}, STRATEGIC),
      patch(`${WIDGETS}/sample/status`, { status: { size: 3, ready: 'x' } }, MERGE),
      patch(`${WIDGETS}/sample/status`, { status: { size: 3, ready: true }, spec: { size: 1 } }, MERGE),
      patch(`${WIDGETS}/sample/scale`, { spec: { replicas: 2 } }, MERGE),
      patch(`${WIDGETS}/sample/scale`, { spec: { replicas: 99 } }, MERGE),
    ],
  },
  {
    name: 'strategic merge patches',
    steps: [
      post(DEPLOYMENTS, sampleOf('Deployment')),
      ...STRATEGICS.map((each) => patch(`${DEPLOYMENTS}/sample`, each ?? 'null', STRATEGIC)),
    ],
  },
  {
    name: 'strategic merge patches of undecodable values',
    steps: [
      post(MAPS, map),
      patch(`${MAPS}/sample`, { binaryData: { x: 'other' } }, STRATEGIC),
      post('/api/v1/namespaces/NS/secrets', { metadata: { name: 'sample' } }),
      patch('/api/v1/namespaces/NS/secrets/sample', { type: 2 }, STRATEGIC),
      patch('/api/v1/namespaces/NS/secrets/sample', { data: { a: [] } }, MERGE),
      post(WIDGETS, sampleOf('Widget')),
      put(`${WIDGETS}/sample/scale`, sampleOf('Widget')),
    ],
  },
  {
    name: 'patches of scale',
    steps: [
      post(DEPLOYMENTS, sampleOf('Deployment')),
      patch(`${DEPLOYMENTS}/sample/scale`, { spec: { replicas: 3 } }, MERGE),
      patch(`${DEPLOYMENTS}/sample/scale`, { spec: { replicas: -3 } }, MERGE),
      patch(`${DEPLOYMENTS}/sample/scale`, { spec: { replicas: 'x' } }, MERGE),
      patch(`${DEPLOYMENTS}/sample/scale`, [{ op: 'replace', path: '/spec/replicas', value: 4 }], JSON_PATCH),
      patch(`${DEPLOYMENTS}/nope/scale`, { spec: { replicas: 3 } }, MERGE),
      patch(`${DEPLOYMENTS}/sample/status`, { status: { replicas: 3, conditions: [{ type: 'A' }] } }, MERGE),
    ],
  },
  {
    name: 'types of patches',
    steps: [
      post(MAPS, map),
      ...[
        'application/json',
        'text/plain',
        'application/yaml',
        '',
        'application/merge-patch+json; charset=utf-8',
        'application/apply-patch+cbor',
      ].map((type) => patch(`${MAPS}/sample`, { data: { z: 'z' } }, { 'content-type': type })),
      patch(`${MAPS}/sample?force=true`, {}, MERGE),
      patch(`${MAPS}/sample?fieldManager=${'x'.repeat(129)}`, {}, MERGE),
      patch(`${MAPS}/sample?dryRun=x`, {}, MERGE),
      patch(`${MAPS}/sample?fieldValidation=x`, {}, MERGE),
    ],
  },
];
