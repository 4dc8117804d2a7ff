import { Role, RoleBinding } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import { objectOf, objectsOf } from '../testing/rendered.test-support.ts';
import { sampleOidc, sampleServer } from '../testing/sample-inputs.test-support.ts';
import { OIDC_VARIANTS, SERVER_VARIANTS } from '../testing/variants.test-support.ts';

const provider = (overrides: object = {}) =>
  oidcObjects(sampleOidc({ ...OIDC_VARIANTS['an own certificate'], ...overrides }));

describe('an external certificate of a Route', () => {
  it.each([
    ['the provider', provider(), 'spire-oidc-discovery-provider-external-certificate'],
    [
      'the federation endpoint',
      serverObjects(sampleServer(SERVER_VARIANTS['federation with a certificate'])),
      'spire-server-federation-external-certificate',
    ],
  ])('of %s may be read by the router, and nothing else', (_, children, name) => {
    expect(objectOf(children, Role, name).rules).toEqual([
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['route-tls'], verbs: ['get', 'list', 'watch'] },
    ]);
    const { roleRef, subjects } = objectOf(children, RoleBinding, name);
    expect(roleRef.name).toBe(name);
    expect(subjects).toEqual([{ kind: 'ServiceAccount', namespace: 'openshift-ingress', name: 'router' }]);
  });

  it('is not used without a Route', () => {
    expect(objectsOf(provider({ isOpenShift: false }), Role)).toEqual([]);
    const spec = { externalSecretRef: 'route-tls', managedRoute: 'false' };
    expect(objectsOf(provider({ spec }), Role)).toEqual([]);
  });
});
