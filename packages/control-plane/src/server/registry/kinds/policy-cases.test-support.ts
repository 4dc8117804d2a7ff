import { type Case, DRY, MERGE, type Step, table } from './compare-kinds.test-support.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ROLES = `${RBAC}/namespaces/NS/roles`;
const BINDINGS = `${RBAC}/namespaces/NS/rolebindings`;
const CLUSTER_ROLES = `${RBAC}/clusterroles`;
const CLUSTER_BINDINGS = `${RBAC}/clusterrolebindings`;
const MUTATING = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const VALIDATING = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const PRIORITIES = '/apis/scheduling.k8s.io/v1/priorityclasses';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/NS/leases';

const tried = (path: string, object: object): Step => [
  'POST',
  `${path}${DRY}`,
  { metadata: { name: 'OWN-n' }, ...object },
];
const RULE = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const ROLE_REF = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const hook = (more: object = {}): object => ({
  name: 'a.b.c',
  clientConfig: { url: 'https://a.b' },
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [{ operations: ['CREATE'], apiGroups: ['none.test'], apiVersions: ['v1'], resources: ['nothings'] }],
  ...more,
});
const hooks = (...webhooks: object[]): Step => tried(VALIDATING, { webhooks });
const webhook = (more: object): Step => hooks(hook(more));

/** CASES covers RBAC kinds and webhook configurations. */
export const CASES: readonly Case[] = [
  [
    'roles',
    tried(ROLES, {}),
    tried(ROLES, { rules: [RULE] }),
    tried(ROLES, { rules: [{}] }),
    tried(ROLES, { rules: [{ verbs: ['get'] }] }),
    tried(ROLES, { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }),
    tried(ROLES, { rules: [{ ...RULE, nonResourceURLs: ['/x'] }] }),
    tried(ROLES, {
      rules: [
        { verbs: ['get'], apiGroups: [''] },
        { verbs: ['get'], resources: ['x'] },
      ],
    }),
    tried(CLUSTER_ROLES, { rules: [{ verbs: ['get'], nonResourceURLs: ['/x', 'y', '/a*b'] }] }),
    tried(CLUSTER_ROLES, { rules: [{ ...RULE, nonResourceURLs: ['/x'] }] }),
    tried(CLUSTER_ROLES, { aggregationRule: {} }),
    tried(CLUSTER_ROLES, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] } }),
    tried(ROLES, { metadata: { name: 'a:b' } }),
    tried(ROLES, { metadata: { name: 'a/b' } }),
    tried(ROLES, { metadata: { name: 'a%b' } }),
    ['POST', ROLES, { metadata: { name: 'r' }, rules: [RULE] }],
    table(ROLES),
    ['DELETE', `${ROLES}/r`],
  ],
  [
    'bindings',
    tried(BINDINGS, { roleRef: ROLE_REF }),
    tried(BINDINGS, {
      roleRef: { kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g' },
        { kind: 'ServiceAccount', name: 's', namespace: 'NS' },
      ],
    }),
    tried(BINDINGS, { roleRef: ROLE_REF, subjects: [{ kind: 'ServiceAccount', name: 's' }] }),
    tried(BINDINGS, {
      roleRef: ROLE_REF,
      subjects: [{ kind: 'ServiceAccount', name: 'A_B', namespace: 'A_B', apiGroup: 'x' }],
    }),
    tried(BINDINGS, {
      roleRef: ROLE_REF,
      subjects: [
        { kind: 'Nope', name: 'x' },
        { kind: 'User' },
        { kind: 'User', name: 'x', apiGroup: 'y', namespace: 'z' },
        {},
      ],
    }),
    tried(BINDINGS, { roleRef: { apiGroup: 'x', kind: 'Nope', name: '' } }),
    tried(BINDINGS, { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a/b' } }),
    tried(BINDINGS, {}),
    tried(CLUSTER_BINDINGS, { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'a' } }),
    tried(CLUSTER_BINDINGS, { roleRef: ROLE_REF, subjects: [{ kind: 'ServiceAccount', name: 's' }] }),
    [
      'POST',
      BINDINGS,
      {
        metadata: { name: 'b' },
        roleRef: ROLE_REF,
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'User', name: 'v' },
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', name: 's', namespace: 'NS' },
        ],
      },
    ],
    ['PATCH', `${BINDINGS}/b`, { roleRef: { name: 'edit' } }, MERGE],
    ['PATCH', `${BINDINGS}/b`, { subjects: [] }, MERGE],
    [
      'POST',
      BINDINGS,
      {
        metadata: { name: 'c' },
        roleRef: ROLE_REF,
        subjects: [
          { kind: 'User', name: 'u' },
          { kind: 'User', name: 'v' },
          { kind: 'Group', name: 'g' },
          { kind: 'ServiceAccount', name: 's', namespace: 'NS' },
        ],
      },
    ],
    table(BINDINGS),
    ['POST', CLUSTER_BINDINGS, { metadata: { name: 'OWN-b' }, roleRef: ROLE_REF }],
    ['PATCH', `${CLUSTER_BINDINGS}/OWN-b`, { roleRef: { name: 'edit' } }, MERGE],
    table(`${CLUSTER_BINDINGS}?fieldSelector=metadata.name=OWN-b`),
    ['DELETE', `${CLUSTER_BINDINGS}/OWN-b`],
  ],
  [
    'webhooks',
    hooks(),
    hooks(hook()),
    tried(MUTATING, { webhooks: [hook()] }),
    hooks({}),
    hooks(hook(), hook()),
    webhook({ name: 'a' }),
    webhook({ name: 'A_B.c.d' }),
    webhook({ clientConfig: {} }),
    webhook({ clientConfig: { url: 'http://a.b' } }),
    webhook({ clientConfig: { url: 'https://u:p@a.b?x=y#z' } }),
    webhook({ clientConfig: { url: 'nope' } }),
    webhook({ clientConfig: { url: 'https://a', service: { name: 'a', namespace: 'b' } } }),
    webhook({ clientConfig: { service: { name: 'a', namespace: 'b' } } }),
    webhook({ clientConfig: { service: { name: '', namespace: '', port: 0, path: 'x//y' } } }),
    webhook({ clientConfig: { service: { name: 'a', namespace: 'b', path: '/a//b' }, caBundle: 'eA==' } }),
    webhook({ sideEffects: 'Some' }),
    webhook({ sideEffects: undefined }),
    webhook({ sideEffects: 'Nope', failurePolicy: 'Nope', matchPolicy: 'Nope' }),
    webhook({ timeoutSeconds: 0 }),
    webhook({ timeoutSeconds: 31 }),
    webhook({ admissionReviewVersions: [] }),
    webhook({ admissionReviewVersions: ['v2'] }),
    webhook({ admissionReviewVersions: ['v1', 'v1', 'A B'] }),
    webhook({ rules: [] }),
    webhook({ rules: [{}] }),
    webhook({
      rules: [
        {
          operations: ['Nope', '*'],
          apiGroups: ['*', 'a'],
          apiVersions: ['', '*'],
          resources: ['*', 'pods', 'a/b/c', '*/*', ''],
          scope: 'Nope',
        },
      ],
    }),
    webhook({
      rules: [
        {
          operations: ['CREATE'],
          apiGroups: ['a'],
          apiVersions: ['v1'],
          resources: ['pods/*', 'pods/status', '*/scale', 'x/scale'],
        },
      ],
    }),
    webhook({
      namespaceSelector: { matchLabels: { 'a b': 'c' } },
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'Nope' }] },
    }),
    webhook({ matchConditions: [{ name: 'a', expression: 'true' }] }),
    webhook({ matchConditions: [{ name: '', expression: '' }] }),
    webhook({
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'object.metadata.name == "x"' },
      ],
    }),
    webhook({ matchConditions: [{ name: 'A B', expression: '1' }] }),
    webhook({ matchConditions: [{ name: 'a', expression: 'object.x' }] }),
    tried(MUTATING, { webhooks: [hook({ reinvocationPolicy: 'Nope' })] }),
    tried(MUTATING, {
      webhooks: [hook({ reinvocationPolicy: 'IfNeeded', failurePolicy: 'Ignore', timeoutSeconds: 5 })],
    }),
    ['POST', MUTATING, { metadata: { name: 'OWN-m' }, webhooks: [hook()] }],
    ['PATCH', `${MUTATING}/OWN-m`, { metadata: { labels: { a: 'b' } } }, MERGE],
    ['PATCH', `${MUTATING}/OWN-m`, { webhooks: [hook({ name: 'b.c.d' }), hook()] }, MERGE],
    table(`${MUTATING}?fieldSelector=metadata.name=OWN-m`),
    ['DELETE', `${MUTATING}/OWN-m`],
  ],
  [
    'priority classes',
    tried(PRIORITIES, { value: 5 }),
    tried(PRIORITIES, {}),
    tried(PRIORITIES, { value: 2000000000 }),
    tried(PRIORITIES, { value: 5, preemptionPolicy: 'Nope' }),
    tried(PRIORITIES, { metadata: { name: 'system-x' }, value: 5 }),
    ['POST', PRIORITIES, { metadata: { name: 'OWN-p' }, value: 5, description: 'x' }],
    ['PATCH', `${PRIORITIES}/OWN-p`, { value: 6 }, MERGE],
    ['PATCH', `${PRIORITIES}/OWN-p`, { preemptionPolicy: 'Never' }, MERGE],
    ['PATCH', `${PRIORITIES}/OWN-p`, { description: 'y' }, MERGE],
    table(`${PRIORITIES}?fieldSelector=metadata.name=OWN-p`),
    ['DELETE', `${PRIORITIES}/OWN-p`],
  ],
  [
    'leases',
    tried(LEASES, {}),
    tried(LEASES, {
      spec: {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        renewTime: '2020-01-01T00:00:00.000000Z',
        leaseTransitions: 0,
      },
    }),
    tried(LEASES, { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
    tried(LEASES, { spec: { holderIdentity: '', strategy: 'Nope', preferredHolder: 'x' } }),
    ['POST', LEASES, { metadata: { name: 'l' }, spec: { holderIdentity: 'me' } }],
    ['PUT', `${LEASES}/l`, { metadata: { name: 'l' }, spec: { holderIdentity: 'you' } }],
    ['PATCH', `${LEASES}/l`, { spec: { holderIdentity: null } }, MERGE],
    table(LEASES),
    ['DELETE', `${LEASES}/l`],
  ],
];
