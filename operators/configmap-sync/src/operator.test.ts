import { permissionsOf } from '@bowline/runtime/install';
import { expect, it } from 'vitest';
import { configMapSync } from './operator.ts';

it('has exactly the permissions that it needs', () => {
  const { cluster } = permissionsOf(configMapSync);
  const allowed = cluster.map(({ apiGroups = [], resources = [], verbs, resourceNames }) =>
    [`${apiGroups.join()}/${resources.join()}`, verbs.join(' '), ...(resourceNames ?? [])].join(': '),
  );
  expect(allowed).toEqual([
    '/configmaps: get list watch create patch delete',
    '/namespaces: get list watch',
    '/serviceaccounts: get',
    'admissionregistration.k8s.io/validatingwebhookconfigurations: get list watch patch: bowline-configmap-sync',
    'authorization.k8s.io/subjectaccessreviews: create',
    'events.k8s.io/events: create patch',
    'sync.bowline.dev/configmapsyncs: get list watch patch',
    'sync.bowline.dev/configmapsyncs/status: patch',
  ]);
});
