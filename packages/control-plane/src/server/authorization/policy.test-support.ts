const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/** POLICY is written to both servers, in this order, before the tests send requests; names may contain NS and OWN. */
export const POLICY: readonly (readonly [path: string, object: object])[] = [
  clusterRole('reader', [
    { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['pods', 'pods/log', 'deployments'] },
  ]),
  clusterRole('scaler', [{ verbs: ['update', 'patch'], apiGroups: ['*'], resources: ['*/scale'] }]),
  clusterRole('paths', [{ verbs: ['get', 'post'], nonResourceURLs: ['/metrics', '/logs/*', '/deb*'] }]),
  clusterRole('all', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
  clusterRole('root', [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]),
  clusterRole('maker', [
    {
      verbs: ['create', 'patch', 'update'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'],
    },
    { verbs: ['get'], apiGroups: [''], resources: ['pods', '*/status'] },
    {
      verbs: ['bind'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['clusterroles'],
      resourceNames: ['OWN:scaler'],
    },
    {
      verbs: ['escalate'],
      apiGroups: ['rbac.authorization.k8s.io'],
      resources: ['roles'],
      resourceNames: ['escalated'],
    },
  ]),
  clusterRole('impersonator', [
    { verbs: ['impersonate'], apiGroups: [''], resources: ['users'], resourceNames: ['bob'] },
    { verbs: ['impersonate'], apiGroups: [''], resources: ['groups'], resourceNames: ['g'] },
    {
      verbs: ['impersonate'],
      apiGroups: ['authentication.k8s.io'],
      resources: ['userextras/scopes', 'uids'],
      resourceNames: ['a'],
    },
  ]),
  role('secrets', [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] }]),
  role('escalated', []),
  clusterBinding('reader', [
    { kind: 'User', name: 'OWN:cat' },
    { kind: 'Group', name: 'OWN:readers' },
  ]),
  clusterBinding('scaler', [{ kind: 'ServiceAccount', name: 'scaler', namespace: 'NS' }]),
  clusterBinding('paths', [{ kind: 'User', name: 'OWN:ann' }]),
  clusterBinding('maker', [{ kind: 'User', name: 'OWN:maker' }]),
  clusterBinding('impersonator', [{ kind: 'User', name: 'OWN:actor' }]),
  clusterBinding('root', [{ kind: 'User', name: 'OWN:root' }]),
  binding('secrets', 'Role', 'secrets', [
    { kind: 'User', name: 'OWN:ann' },
    { kind: 'ServiceAccount', name: 'near' },
  ]),
  binding('all', 'ClusterRole', 'OWN:all', [{ kind: 'Group', name: 'OWN:owners' }]),
  binding('dangling', 'ClusterRole', 'OWN:none', [{ kind: 'User', name: 'OWN:lost' }]),
  binding('dangling-too', 'Role', 'none', [{ kind: 'User', name: 'OWN:stray' }]),
  role('mapper', [{ verbs: ['create', 'update', 'patch', 'get'], apiGroups: [''], resources: ['configmaps'] }]),
  role('blocker', [
    { verbs: ['create', 'update', 'delete'], apiGroups: [''], resources: ['configmaps', 'configmaps/finalizers'] },
  ]),
  role('changer', [
    { verbs: ['update', 'patch'], apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps', 'leases'] },
  ]),
  binding('changer', 'Role', 'changer', [{ kind: 'User', name: 'OWN:changer' }]),
  binding('mapper', 'Role', 'mapper', [{ kind: 'User', name: 'OWN:mapper' }]),
  binding('blocker', 'Role', 'blocker', [{ kind: 'User', name: 'OWN:blocker' }]),
  clusterRole('last', [{ verbs: ['get'], apiGroups: [''], resources: ['y'] }]),
  role('last', [{ verbs: ['get'], apiGroups: [''], resources: ['x'] }]),
  clusterBinding('last', [{ kind: 'User', name: 'OWN:last' }]),
  binding('last', 'Role', 'last', [{ kind: 'User', name: 'OWN:last' }]),
];

function clusterRole(name: string, rules: readonly object[]): readonly [string, object] {
  return [`${RBAC}/clusterroles`, { metadata: { name: `OWN:${name}` }, rules }];
}

function role(name: string, rules: readonly object[]): readonly [string, object] {
  return [`${RBAC}/namespaces/NS/roles`, { metadata: { name }, rules }];
}

function subjectsOf(
  subjects: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[],
): object[] {
  return subjects.map((subject) => {
    if (subject.kind !== 'ServiceAccount') return { apiGroup: 'rbac.authorization.k8s.io', ...subject };
    return { namespace: 'NS', ...subject };
  });
}

function clusterBinding(name: string, subjects: Parameters<typeof subjectsOf>[0]): readonly [string, object] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `OWN:${name}` };
  return [
    `${RBAC}/clusterrolebindings`,
    { metadata: { name: `OWN:${name}` }, roleRef, subjects: subjectsOf(subjects) },
  ];
}

function binding(
  name: string,
  kind: string,
  of: string,
  subjects: Parameters<typeof subjectsOf>[0],
): readonly [string, object] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name: of };
  return [`${RBAC}/namespaces/NS/rolebindings`, { metadata: { name }, roleRef, subjects: subjectsOf(subjects) }];
}
