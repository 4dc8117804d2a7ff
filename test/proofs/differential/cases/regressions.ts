import { SAMPLES } from '../../../support/sample-objects.ts';
import { apply, type Case, get, JSON_PATCH, MERGE, patch, post, put, STRATEGIC, TABLE } from '../step.ts';

const MAPS = '/api/v1/namespaces/NS/configmaps';
const PODS = '/api/v1/namespaces/NS/pods';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/NS/deployments';
const WIDGETS = '/apis/proof.bowline.dev/v1/namespaces/NS/widgets';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles';

interface Named {
  readonly metadata: object;
  readonly spec: Readonly<Record<string, unknown>>;
}

const sampleOf = (kind: string): Named => SAMPLES.find((each) => each.kind === kind)?.object as unknown as Named;
const [pod, deployment, widget] = [sampleOf('Pod'), sampleOf('Deployment'), sampleOf('Widget')];
const called = (object: Named, name: string): object => ({ ...object, metadata: { ...object.metadata, name } });

/** regressions are requests discovered by generated cases: those that were fixed or are listed as known are always sent. */
export const regressions: readonly Case[] = [
  {
    name: 'warnings of names',
    steps: [
      post(`${PODS}?dryRun=All`, called(pod, 'a.b-c')),
      post(`${DEPLOYMENTS}?dryRun=All`, called(deployment, 'x'.repeat(64))),
    ],
  },
  {
    name: 'changes of tolerations and more',
    steps: [
      post(PODS, pod),
      ...[
        { tolerations: [{ key: 'b', operator: 'Exists' }] },
        { tolerations: [{ key: 'b', operator: 'Exists' }], hostname: 'other' },
        { tolerations: [], activeDeadlineSeconds: 5 },
        { activeDeadlineSeconds: 7, hostname: 'other' },
        { activeDeadlineSeconds: 9, hostname: 'other' },
      ].map((spec) => patch(`${PODS}/sample`, { spec }, MERGE)),
      patch(`${PODS}/sample`, [{ op: 'replace', path: '/spec/volumes/0/emptyDir', value: 5 }], JSON_PATCH),
    ],
  },
  {
    name: 'the status of a missing Service',
    steps: [
      put('/api/v1/namespaces/NS/services/none/status?dryRun=All', {
        metadata: { name: 'none' },
        spec: { ports: [{ port: 80 }] },
      }),
    ],
  },
  {
    name: 'another scale',
    steps: [
      post(WIDGETS, widget),
      get(`${WIDGETS}/sample/scale`, TABLE),
      post(DEPLOYMENTS, deployment),
      put(`${DEPLOYMENTS}/sample/scale`, { ...deployment, metadata: { name: 'sample', labels: { app: 1.5 } } }),
    ],
  },
  {
    name: 'applied values of another type',
    steps: [
      ...[
        { since: 1 },
        { since: {} },
        { parts: [{}] },
        { parts: [{ count: 1 }, { name: 'a' }] },
        { size: {} },
        { size: 1.5 },
        { size: [1] },
      ].map((change) =>
        apply(`${WIDGETS}/sample`, { ...widget, spec: { ...widget.spec, ...change } }, 'me', '&dryRun=All'),
      ),
      // The object does not exist yet: null is the only problem.
      apply(`${WIDGETS}/sample`, { ...widget, spec: { ...widget.spec, ratio: null } }, 'me', '&dryRun=All'),
    ],
  },
  {
    name: 'invalid counts',
    steps: [
      post(WIDGETS, widget),
      ...[{}, [1], 1.5, 'x', true].map((size) => patch(`${WIDGETS}/sample`, { spec: { size } }, MERGE)),
    ],
  },
  {
    name: 'copies of nothing',
    steps: [
      post(MAPS, { metadata: { name: 'sample' }, data: { a: 'b' } }),
      patch(`${MAPS}/sample`, [{ op: 'copy', from: '/binaryData', path: '/metadata/labels' }], JSON_PATCH),
      patch(`${MAPS}/sample`, [{ op: 'copy', from: '/data/none', path: '/data/c' }], JSON_PATCH),
      patch(`${MAPS}/sample`, [{ op: 'copy', from: '/none/none', path: '/data/c' }], JSON_PATCH),
    ],
  },
  {
    name: 'several undecodable values',
    steps: [
      post(MAPS, { metadata: { name: 'sample' }, data: { a: 'b' } }),
      patch(`${MAPS}/sample`, { binaryData: { x: 'other' }, data: { c: 2 } }, MERGE),
      patch(`${MAPS}/sample`, { data: 1.5 }, STRATEGIC),
    ],
  },
  {
    name: 'an apply after no rules',
    steps: [
      post(ROLES, { metadata: { name: 'sample' } }),
      apply(`${ROLES}/sample`, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'sample' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
      }),
    ],
  },
];
