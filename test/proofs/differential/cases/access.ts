import { type Case, get, MERGE, patch, post, remove } from '../step.ts';

const OTHER_USER = { 'impersonate-user': 'somebody' };
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const HOOKS = '/apis/admissionregistration.k8s.io/v1';

const hook = (change: object): object => ({
  metadata: { name: 'OWN-hook' },
  webhooks: [
    {
      name: 'a.proof.bowline.dev',
      clientConfig: { url: 'https://127.0.0.1:1/' },
      rules: [{ apiGroups: ['none.example'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      ...change,
    },
  ],
});

const WRONG_HOOKS: readonly object[] = [
  {},
  { name: 'short' },
  { clientConfig: {} },
  { clientConfig: { url: 'http://a' } },
  { clientConfig: { url: 'https://a', service: { name: 'a', namespace: 'b' } } },
  { clientConfig: { url: 'https://a', caBundle: 'aGk=' } },
  { rules: [{ operations: ['NOPE'] }] },
  { rules: [{ apiGroups: ['*', 'a'], apiVersions: [], operations: ['*', 'CREATE'], resources: ['*/*', 'a'] }] },
  { sideEffects: 'Some' },
  { sideEffects: undefined },
  { admissionReviewVersions: [] },
  { admissionReviewVersions: ['v9'] },
  { timeoutSeconds: 31 },
  { failurePolicy: 'Nope', matchPolicy: 'Nope' },
  { namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'Nope' }] } },
  { matchConditions: [{ name: 'a', expression: 'nope(' }] },
  { matchConditions: [{ name: 'a b', expression: "object.metadata.name == 'x'" }] },
];

/** access covers permissions, reviews and the configuration of webhooks. */
export const access: readonly Case[] = [
  {
    name: 'refusals',
    steps: [
      get('/api/v1/namespaces/NS/configmaps', OTHER_USER),
      get('/api/v1/namespaces/NS/configmaps/a', OTHER_USER),
      get('/api/v1/nodes', OTHER_USER),
      get('/api/v1/nodes/a', OTHER_USER),
      get('/api/v1/namespaces/NS/configmaps?watch=true', OTHER_USER),
      post('/api/v1/namespaces/NS/configmaps', { metadata: { name: 'a' } }, OTHER_USER),
      patch('/apis/apps/v1/namespaces/NS/deployments/a', {}, { ...MERGE, ...OTHER_USER }),
      { ...remove('/apis/apps/v1/namespaces/NS/deployments'), headers: OTHER_USER },
      get('/apis/apps/v1/namespaces/NS/deployments/a/scale', OTHER_USER),
      get('/apis/proof.bowline.dev/v1/namespaces/NS/widgets', OTHER_USER),
      get('/apis/nope/v1/nopes', OTHER_USER),
      get('/metrics', OTHER_USER),
      get('/api/v1/namespaces/NS/configmaps', { 'impersonate-user': 'system:anonymous' }),
      get('/api/v1/namespaces/NS/configmaps', { 'impersonate-user': 'system:serviceaccount:NS:default' }),
      get('/api/v1/namespaces/NS/configmaps', { 'impersonate-group': 'x' }),
      get('/api/v1/namespaces/NS/configmaps?labelSelector=none', {
        ...OTHER_USER,
        'impersonate-group': 'system:masters',
      }),
    ],
  },
  {
    name: 'roles',
    steps: [
      post(`${RBAC}/namespaces/NS/roles`, {
        metadata: { name: 'a' },
        rules: [{ verbs: [], apiGroups: [''], resources: ['pods'] }],
      }),
      post(`${RBAC}/namespaces/NS/roles`, {
        metadata: { name: 'a' },
        rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
      }),
      post(`${RBAC}/namespaces/NS/roles`, { metadata: { name: 'a' }, rules: [{ verbs: ['get'] }] }),
      post(`${RBAC}/namespaces/NS/roles`, { metadata: { name: 'a:b' } }),
      post(`${RBAC}/clusterroles`, {
        metadata: { name: 'OWN-a' },
        rules: [{ verbs: ['get'], nonResourceURLs: ['x'], resources: ['a'] }],
      }),
      post(`${RBAC}/namespaces/NS/rolebindings`, { metadata: { name: 'a' } }),
      post(`${RBAC}/namespaces/NS/rolebindings`, {
        metadata: { name: 'a' },
        roleRef: { apiGroup: 'x', kind: 'Nope', name: '' },
        subjects: [{ kind: 'Nope', name: '' }],
      }),
      post(`${RBAC}/clusterrolebindings`, {
        metadata: { name: 'OWN-b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'x' },
      }),
      post(`${RBAC}/namespaces/NS/roles`, {
        metadata: { name: 'editor' },
        rules: [{ verbs: ['*'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] }],
      }),
    ],
  },
  {
    name: 'reviews',
    steps: [
      post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      }),
      post(
        '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } },
        OTHER_USER,
      ),
      post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: {} }),
      post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: { user: 'x', nonResourceAttributes: { path: '/api', verb: 'get' } },
      }),
      post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
        spec: { resourceAttributes: {}, nonResourceAttributes: {} },
      }),
      post('/apis/authorization.k8s.io/v1/namespaces/NS/localsubjectaccessreviews', {
        spec: { user: 'x', resourceAttributes: { namespace: 'other' } },
      }),
      post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'nope' } }),
      post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: {} }),
      post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, OTHER_USER),
      post('/api/v1/namespaces/NS/serviceaccounts/default/token', { spec: { expirationSeconds: 5 } }),
      post('/api/v1/namespaces/NS/serviceaccounts/nope/token', { spec: {} }),
    ],
  },
  {
    name: 'webhook configurations',
    steps: WRONG_HOOKS.map((each) => post(`${HOOKS}/validatingwebhookconfigurations?dryRun=All`, hook(each))),
  },
  {
    name: 'mutating webhook configurations',
    steps: [{}, { reinvocationPolicy: 'Nope' }, { reinvocationPolicy: 'IfNeeded' }].map((each) =>
      post(`${HOOKS}/mutatingwebhookconfigurations?dryRun=All`, hook(each)),
    ),
  },
];
