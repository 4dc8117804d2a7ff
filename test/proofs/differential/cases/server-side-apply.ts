import { SAMPLES } from '../../../support/sample-objects.ts';
import { APPLY, apply, type Case, get, MERGE, patch, post, put } from '../step.ts';

const MAP = '/api/v1/namespaces/NS/configmaps/a';
const DEPLOYMENT = '/apis/apps/v1/namespaces/NS/deployments/sample';
const WIDGET = '/apis/proof.bowline.dev/v1/namespaces/NS/widgets/sample';
const sampleOf = (kind: string): Record<string, unknown> => ({ ...SAMPLES.find((each) => each.kind === kind)?.object });
const map = (data: unknown, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...more },
  data,
});
const deployment = (spec: object): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'sample' },
  spec,
});
const widget = (spec: object, more: object = {}): object => ({
  apiVersion: 'proof.bowline.dev/v1',
  kind: 'Widget',
  metadata: { name: 'sample' },
  spec,
  ...more,
});

/** serverSideApply covers field managers and ownership. */
export const serverSideApply: readonly Case[] = [
  {
    name: 'apply of a map',
    steps: [
      apply(MAP, map({ a: '1', b: '2' })),
      apply(MAP, map({ a: '1', b: '2' })),
      apply(MAP, map({ a: '1' })),
      apply(MAP, map({ a: '9', c: '3' }), 'you'),
      apply(MAP, map({ a: '9', c: '3' }), 'you', '&force=true'),
      apply(MAP, map({ a: '1' })),
      apply(MAP, map({ a: '9' })),
      patch(MAP, { data: { d: '4' } }, MERGE),
      apply(MAP, map({ d: '5' }, { labels: { x: 'y' } })),
      apply(MAP, map({ d: '5' }, { resourceVersion: '1' })),
      apply(MAP, map({ d: '5' }, { uid: 'x' })),
      apply(MAP, map({}), 'you', '&dryRun=All'),
      apply(MAP, map(null), 'you'),
      get(MAP),
    ],
  },
  {
    name: 'rejected apply',
    steps: [
      patch(MAP, map({}), APPLY),
      apply(MAP, {}),
      apply(MAP, { ...map({}), kind: 'Secret' }),
      apply(MAP, { ...map({}), apiVersion: 'v2' }),
      apply(MAP, map({}, { name: 'b' })),
      apply(MAP, map({}, { name: '' })),
      apply(MAP, map({}, { namespace: 'elsewhere' })),
      apply(MAP, map({}, { managedFields: [] })),
      apply(MAP, map({ a: 5 })),
      apply(MAP, map('x')),
      apply(MAP, { ...map({}), unknown: 1 }),
      apply(MAP, map({}), 'me', '&force=x'),
      apply(MAP, '- a'),
      apply(MAP, 'a: b: c'),
      apply(MAP, ''),
      apply(MAP, map({}), 'x'.repeat(129)),
      apply(`${MAP}/status`, map({})),
      apply(MAP, { ...map({}), binaryData: { x: '!' } }),
      apply(`${WIDGET}/scale`, widget({ size: 1 })),
    ],
  },
  {
    name: 'apply of a Deployment',
    steps: [
      apply(DEPLOYMENT, sampleOf('Deployment')),
      apply(DEPLOYMENT, deployment({ replicas: 5 }), 'scaler'),
      apply(DEPLOYMENT, deployment({ replicas: 5 }), 'scaler', '&force=true'),
      patch(`${DEPLOYMENT}/scale`, { spec: { replicas: 6 } }, MERGE),
      apply(DEPLOYMENT, deployment({ template: { spec: { containers: [{ name: 'main', image: 'x' }] } } }), 'other'),
      apply(DEPLOYMENT, deployment({ template: { spec: { containers: [{ name: 'side', image: 'x' }] } } }), 'other'),
      apply(
        DEPLOYMENT,
        deployment({ template: { spec: { containers: [{ name: 'side' }, { name: 'side' }] } } }),
        'other',
      ),
      apply(DEPLOYMENT, deployment({ template: { spec: { containers: [{ image: 'x' }] } } }), 'other'),
      apply(DEPLOYMENT, deployment({}), 'other'),
      apply(`${DEPLOYMENT}/status`, { ...deployment({}), status: { replicas: 1 } }, 'other'),
      apply(DEPLOYMENT, sampleOf('Deployment')),
      put(DEPLOYMENT, sampleOf('Deployment')),
      get(DEPLOYMENT),
    ],
  },
  {
    name: 'apply of a custom resource',
    steps: [
      apply(WIDGET, sampleOf('Widget')),
      apply(WIDGET, widget({ parts: [{ name: 'middle' }], tags: ['c'] }), 'you'),
      apply(WIDGET, widget({ parts: [{ name: 'left', count: 5 }] }), 'you'),
      apply(WIDGET, widget({ atomic: { b: 'y' } }), 'you'),
      apply(WIDGET, widget({ atomic: { b: 'y' } }), 'you', '&force=true'),
      apply(WIDGET, widget({ labels: { a: 'b', c: 'd' } }), 'you'),
      apply(WIDGET, widget({ tags: ['c', 'c'] }), 'you'),
      apply(WIDGET, widget({ size: 'x' }), 'you'),
      apply(WIDGET, widget({ size: 99 }), 'you', '&force=true'),
      apply(WIDGET, widget({ free: { deep: { er: 1 } } }), 'you'),
      apply(WIDGET, widget({ unknown: 1 }), 'you'),
      apply(WIDGET, widget({ unknown: 1 }), 'you', '&fieldValidation=Strict'),
      apply(`${WIDGET}/status`, widget({}, { status: { size: 4 } }), 'you'),
      apply(WIDGET, widget({}), 'you'),
      get(WIDGET),
    ],
  },
  {
    name: 'managers of other writes',
    steps: [
      post('/api/v1/namespaces/NS/configmaps?fieldManager=poster', map({ a: '1' })),
      put(`${MAP}?fieldManager=putter`, map({ a: '1', b: '2' })),
      put(`${MAP}?fieldManager=putter`, map({ b: '3' })),
      patch(MAP, { metadata: { managedFields: null } }, MERGE),
      patch(MAP, { metadata: { managedFields: [{}] } }, MERGE),
      patch(MAP, { metadata: { managedFields: [{ manager: 'x', operation: 'Nope', apiVersion: 'v1' }] } }, MERGE),
      patch(MAP, { data: { e: '1' } }, { ...MERGE, 'user-agent': 'agent/1.2 (x)' }),
      patch(MAP, { data: { f: '1' } }, { ...MERGE, 'user-agent': '' }),
      get(MAP),
    ],
  },
];
