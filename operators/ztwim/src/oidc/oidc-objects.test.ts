import { ConfigMap, Deployment, Ingress, PodDisruptionBudget, Service } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { Child } from '../objects/child.ts';
import { oidcConfig } from '../spire/oidc-config.ts';
import { renderFile } from '../spire/rendered-file.ts';
import { objectOf, objectsOf, templateOf } from '../testing/rendered.test-support.ts';
import { type OidcSpec, type Overrides, sampleOidc } from '../testing/sample-inputs.test-support.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { Route } from '../third-party/route.ts';
import { oidcObjects } from './oidc-objects.ts';

const name = 'spire-spiffe-oidc-discovery-provider';
const render = (overrides: Overrides<OidcSpec> = {}): readonly Child[] => oidcObjects(sampleOidc(overrides));

describe('oidcObjects', () => {
  it('returns the workload last', () => {
    expect(render().map(({ resource }) => resource.kind)).toEqual([
      'ServiceAccount',
      'Service',
      'ConfigMap',
      'ClusterSPIFFEID',
      'Deployment',
    ]);
  });

  it('puts the file and its hash in place', () => {
    const { spec, values, config } = sampleOidc();
    const { operandNamespace: namespace, clusterDomain } = config;
    const file = renderFile(oidcConfig({ spec, values, namespace, clusterDomain }));
    expect(objectOf(render(), ConfigMap).data).toEqual({ 'oidc-discovery-provider.conf': file.text });
    expect(templateOf(render()).metadata?.annotations).toEqual({
      'ztwim.openshift.io/spire-oidc-discovery-provider-config-hash': file.hash,
    });
  });

  it('gives its own pods an identity for the host of the issuer', () => {
    expect(objectOf(render({ values: { jwtIssuer: 'https://b.io:8443/x' } }), ClusterSPIFFEID).spec).toMatchObject({
      className: 'zero-trust-workload-identity-manager-spire',
      autoPopulateDNSNames: true,
      dnsNameTemplates: ['b.io'],
      namespaceSelector: {
        matchLabels: { 'kubernetes.io/metadata.name': 'zero-trust-workload-identity-manager' },
      },
      podSelector: { matchLabels: { 'app.kubernetes.io/name': name } },
    });
  });

  it('mounts the Workload API with the driver', () => {
    const volumes = templateOf(render({ spec: { csiDriverName: 'csi.example.io' } })).spec?.volumes;
    expect(volumes).toContainEqual({
      name: 'spiffe-workload-api',
      csi: { driver: 'csi.example.io', readOnly: true },
    });
  });

  it.each([
    [1, 0],
    [2, 1],
  ])('has for %i pods %i PodDisruptionBudgets', (replicaCount, count) => {
    const children = render({ spec: { replicaCount } });
    expect(objectsOf(children, PodDisruptionBudget)).toHaveLength(count);
    expect(objectOf(children, Deployment).spec?.replicas).toBe(replicaCount);
  });

  const tls = { secretName: 'own-tls' };
  it.each<[string, Overrides<OidcSpec>, string, boolean]>([
    ['issued by the operator', {}, 'oidc-serving-cert', false],
    ['issued by OpenShift', { isOpenShift: true }, 'oidc-serving-cert', true],
    ['of the user', { spec: { tls } }, 'own-tls', false],
    ['of the user on OpenShift', { spec: { tls }, isOpenShift: true }, 'own-tls', false],
  ])('uses a certificate %s', (_, overrides, secretName, isRequested) => {
    const children = render(overrides);
    expect(templateOf(children).spec?.volumes).toContainEqual({ name: 'tls-certs', secret: { secretName } });
    expect(objectOf(children, Service).metadata?.annotations).toEqual(
      isRequested ? { 'service.beta.openshift.io/serving-cert-secret-name': 'oidc-serving-cert' } : undefined,
    );
  });

  it.each<[string, OidcSpec, object]>([
    ['the certificate of the router', {}, {}],
    ['an own certificate', { externalSecretRef: 'route-tls' }, { externalCertificate: { name: 'route-tls' } }],
  ])('has a Route on OpenShift with %s', (_, spec, certificate) => {
    expect(objectOf(render({ spec, isOpenShift: true }), Route).spec).toEqual({
      host: 'oidc.example.io',
      to: { kind: 'Service', name, weight: 100 },
      port: { targetPort: 'https' },
      tls: { termination: 'reencrypt', insecureEdgeTerminationPolicy: 'Redirect', ...certificate },
      wildcardPolicy: 'None',
    });
  });

  it('has an Ingress where Routes are not served, if configured', () => {
    const backend = { service: { name, port: { name: 'https' } } };
    expect(objectOf(render({ spec: { ingress: {} } }), Ingress).spec).toEqual({
      rules: [{ host: 'oidc.example.io', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    });
  });

  it.each<[string, Overrides<OidcSpec>]>([
    ['by default', {}],
    ['if the Route is not managed', { spec: { managedRoute: 'false', ingress: {} }, isOpenShift: true }],
  ])('is not exposed %s', (_, overrides) => {
    const kinds = render(overrides).map(({ resource }) => resource.kind);
    expect(kinds).not.toContain('Route');
    expect(kinds).not.toContain('Ingress');
  });
});
