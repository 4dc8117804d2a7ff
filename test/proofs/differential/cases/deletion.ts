import { type Case, get, MERGE, patch, post, put, remove } from '../step.ts';

const MAPS = '/api/v1/namespaces/NS/configmaps';
const WIDGETS = '/apis/proof.bowline.dev/v1/namespaces/NS/widgets';
const PODS = '/api/v1/namespaces/NS/pods';
const map = (name: string, more: object = {}): object => ({ metadata: { name, ...more } });
const widget = {
  apiVersion: 'proof.bowline.dev/v1',
  kind: 'Widget',
  metadata: { name: 'a', finalizers: ['proof.bowline.dev/f'] },
};
const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } };

/** deletion covers the deletion of objects. */
export const deletion: readonly Case[] = [
  {
    name: 'finalizers',
    steps: [
      post(MAPS, map('a', { finalizers: ['x.example/y'] })),
      remove(`${MAPS}/a?dryRun=All`),
      remove(`${MAPS}/a`),
      remove(`${MAPS}/a`),
      patch(`${MAPS}/a`, { metadata: { finalizers: ['x.example/y', 'new.example/z'] } }, MERGE),
      patch(`${MAPS}/a`, { data: { still: 'writable' } }, MERGE),
      post(MAPS, map('a')),
      patch(`${MAPS}/a`, { metadata: { finalizers: null } }, MERGE),
      get(`${MAPS}/a`),
    ],
  },
  {
    name: 'finalizers of a custom resource',
    steps: [
      post(WIDGETS, widget),
      remove(`${WIDGETS}/a`),
      get(`${WIDGETS}/a`),
      put(`${WIDGETS}/a`, { ...widget, metadata: { name: 'a', resourceVersion: '{{2.metadata.resourceVersion}}' } }),
      get(`${WIDGETS}/a`),
    ],
  },
  {
    name: 'propagation',
    steps: [
      ...['a', 'b', 'c', 'd'].map((name) => post(MAPS, map(name, { finalizers: ['x.example/keep'] }))),
      remove(`${MAPS}/a`, { propagationPolicy: 'Foreground' }),
      remove(`${MAPS}/b?propagationPolicy=Orphan`),
      remove(`${MAPS}/c`, { orphanDependents: true }),
      remove(`${MAPS}/d`, { propagationPolicy: 'Background' }),
      remove(`${MAPS}/d`, { propagationPolicy: 'Nope' }),
      remove(`${MAPS}/d`, { propagationPolicy: 'Orphan', orphanDependents: true }),
      remove(`${MAPS}/d?propagationPolicy=nope`),
    ],
  },
  {
    name: 'preconditions',
    steps: [
      post(MAPS, map('a')),
      remove(`${MAPS}/a`, { preconditions: { uid: 'other' } }),
      remove(`${MAPS}/a`, { preconditions: { resourceVersion: '1' } }),
      remove(`${MAPS}/a`, {
        preconditions: { uid: '{{0.metadata.uid}}', resourceVersion: '{{0.metadata.resourceVersion}}' },
      }),
      post(MAPS, map('b')),
      put(`${MAPS}/b`, map('b', { uid: 'other' })),
      put(`${MAPS}/b`, map('b', { resourceVersion: 'x' })),
      put(`${MAPS}/b`, map('b', { resourceVersion: '{{4.metadata.resourceVersion}}' })),
      put(`${MAPS}/b`, map('b', { resourceVersion: '{{4.metadata.resourceVersion}}', labels: { a: 'b' } })),
      put(`${MAPS}/b`, map('b', { resourceVersion: '{{4.metadata.resourceVersion}}', labels: { a: 'c' } })),
    ],
  },
  {
    name: 'options of deletions',
    steps: [
      post(MAPS, map('a', { finalizers: ['x.example/keep'] })),
      ...['gracePeriodSeconds=x', 'gracePeriodSeconds=-1', 'dryRun=x', 'nope=1'].map((query) =>
        remove(`${MAPS}/a?${query}`),
      ),
      remove(`${MAPS}/a`, { gracePeriodSeconds: 'x' }),
      remove(`${MAPS}/a`, { gracePeriodSeconds: 5 }),
      remove(`${MAPS}/a`, { dryRun: ['All'] }),
      remove(`${MAPS}/a`, { dryRun: ['Some'] }),
      remove(`${MAPS}/a`, { preconditions: 5 }),
      remove(`${MAPS}/a`, { kind: 'Pod', apiVersion: 'v1' }),
      remove(`${MAPS}/a`, { kind: 'DeleteOptions', apiVersion: 'v1', unknown: 1 }),
      remove(`${MAPS}/a`, '{"a"'),
      remove(`${MAPS}/a`, '[]'),
      { ...remove(`${MAPS}/a`, 'x'), headers: { 'content-type': 'text/plain' } },
    ],
  },
  {
    name: 'deletion of collections',
    steps: [
      ...['a', 'b', 'c'].map((name) => post(MAPS, map(name, { labels: { pick: name } }))),
      remove(`${MAPS}?labelSelector=pick%3Da&dryRun=All`),
      remove(`${MAPS}?labelSelector=pick%3Da`),
      remove(`${MAPS}?labelSelector=pick&limit=1`),
      remove(`${MAPS}?labelSelector=nope%3D%3D%3D`),
      remove(`${MAPS}?fieldSelector=metadata.name%3Dc`),
      get(`${MAPS}?labelSelector=pick`),
    ],
  },
  {
    name: 'grace periods of Pods',
    steps: [
      post(PODS, pod),
      remove(`${PODS}/a?dryRun=All`),
      remove(`${PODS}/a`),
      get(`${PODS}/a`),
      post(PODS, { ...pod, spec: { ...pod.spec, nodeName: 'nowhere' } }),
      remove(`${PODS}/a`, { gracePeriodSeconds: 10 }),
      remove(`${PODS}/a`, { gracePeriodSeconds: 60 }),
      remove(`${PODS}/a`, { gracePeriodSeconds: 5 }),
      remove(`${PODS}/a`, { gracePeriodSeconds: 0 }),
      get(`${PODS}/a`),
    ],
  },
  {
    name: 'deletion of a namespace',
    steps: [
      post('/api/v1/namespaces', { metadata: { name: 'OWN', finalizers: ['x.example/keep'] } }),
      post('/api/v1/namespaces/OWN/configmaps', map('a', { finalizers: ['x.example/keep'] })),
      remove('/api/v1/namespaces/default'),
      remove('/api/v1/namespaces/kube-system'),
      post('/api/v1/namespaces/nope/configmaps', map('a')),
      put('/api/v1/namespaces/OWN/finalize', {
        metadata: { name: 'OWN' },
        spec: { finalizers: ['kubernetes', 'a.example/b'] },
      }),
      patch('/api/v1/namespaces/OWN/status', { status: { phase: 'Nope' } }, MERGE),
    ],
  },
];
