import {
  ClusterRole,
  ConfigMap,
  Ingress,
  PodDisruptionBudget,
  Role,
  Service,
  StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import type { Child } from '../objects/child.ts';
import { objectOf, objectsOf, templateOf } from '../testing/rendered.test-support.ts';
import { type ServerOverrides, type ServerSpec, sampleServer } from '../testing/sample-inputs.test-support.ts';
import { SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { ClusterSPIFFEID } from '../third-party/cluster-spiffe-id.ts';
import { Route } from '../third-party/route.ts';
import { serverFiles } from './server-input.ts';
import { serverObjects } from './server-objects.ts';

const render = (overrides: ServerOverrides = {}): readonly Child[] => serverObjects(sampleServer(overrides));
const variant = (name: string): readonly Child[] => render(SERVER_VARIANTS[name]);
const containersOf = (children: readonly Child[]) => templateOf(children).spec?.containers ?? [];
const portsOf = (children: readonly Child[]) =>
  objectOf(children, Service, 'spire-server').spec?.ports?.map(({ name, port }) => [name, port]);

describe('serverObjects', () => {
  it('returns the workload last, after the files that it mounts', () => {
    const names = render().map(({ resource, object }) => `${resource.kind} ${object.metadata?.name}`);
    expect(names).toEqual([
      'ServiceAccount spire-server',
      'ClusterRole spire-server',
      'ClusterRoleBinding spire-server',
      'ClusterRole spire-controller-manager',
      'ClusterRoleBinding spire-controller-manager',
      'Role spire-bundle',
      'RoleBinding spire-bundle',
      'Role spire-controller-manager-leader-election',
      'RoleBinding spire-controller-manager-leader-election',
      'Service spire-server',
      'Service spire-controller-manager-webhook',
      'ConfigMap spire-server',
      'ConfigMap spire-controller-manager',
      'ValidatingWebhookConfiguration spire-controller-manager-webhook',
      'ClusterSPIFFEID zero-trust-workload-identity-manager-spire-default',
      'StatefulSet spire-server',
    ]);
  });

  it('puts the files and their hashes in place', () => {
    const overrides = { secretsHash: 'abc' };
    const { server, controllerManager } = serverFiles(sampleServer(overrides));
    const children = render(overrides);
    expect(objectOf(children, ConfigMap, 'spire-server').data).toEqual({ 'server.conf': server.text });
    expect(objectOf(children, ConfigMap, 'spire-controller-manager').data).toEqual({
      'controller-manager-config.yaml': controllerManager.text,
    });
    expect(templateOf(children).metadata?.annotations).toEqual({
      'ztwim.openshift.io/spire-server-config-hash': server.hash,
      'ztwim.openshift.io/spire-controller-manager-config-hash': controllerManager.hash,
      'ztwim.openshift.io/secrets-hash': 'abc',
    });
    expect(templateOf(render()).metadata?.annotations).not.toHaveProperty('ztwim.openshift.io/secrets-hash');
  });

  it('configures the storage and what happens with it', () => {
    expect(objectOf(render(), StatefulSet).spec).toMatchObject({
      replicas: 1,
      serviceName: 'spire-server',
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          metadata: { name: 'spire-data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    });
    const [claim] = objectOf(render(), StatefulSet).spec?.volumeClaimTemplates ?? [];
    expect(claim?.spec).not.toHaveProperty('storageClassName');
    expect(objectOf(variant('settings of pods'), StatefulSet).spec).toMatchObject({
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' },
      volumeClaimTemplates: [
        {
          spec: {
            accessModes: ['ReadWriteOncePod'],
            resources: { requests: { storage: '5Gi' } },
            storageClassName: 'fast',
          },
        },
      ],
    });
  });

  it('leaves the deletion of claims to the cleanup if they are backed up first', () => {
    const { persistentVolumeClaimRetentionPolicy } =
      objectOf(variant('a backup before deletion'), StatefulSet).spec ?? {};
    expect(persistentVolumeClaimRetentionPolicy?.whenDeleted).toBe('Retain');
  });

  it('runs as a user without privileges, which OpenShift chooses itself', () => {
    expect(templateOf(render()).spec?.securityContext).toEqual({
      seccompProfile: { type: 'RuntimeDefault' },
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      fsGroup: 1000,
    });
    expect(templateOf(render({ isOpenShift: true })).spec?.securityContext).toEqual({
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it.each([
    [1, 0],
    [2, 1],
    [5, 1],
  ])('has for %i servers %i PodDisruptionBudgets', (replicas, count) => {
    const spec: ServerSpec = { replicas, datastore: { databaseType: 'postgres', connectionString: 'host=db' } };
    const children = render({ spec });
    expect(objectsOf(children, PodDisruptionBudget)).toHaveLength(count);
    expect(objectOf(children, StatefulSet).spec?.replicas).toBe(replicas);
  });

  it('expands variables only with a password, which it reads from the Secret', () => {
    const [server] = containersOf(variant('MySQL with a password'));
    expect(server?.args).toEqual(['-config', '/run/spire/config/server.conf', '-expandEnv']);
    expect(server?.env).toEqual([
      { name: 'SPIRE_DB_PASSWORD', valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } },
    ]);
    const [other] = containersOf(render());
    expect(other?.args).toEqual(['-config', '/run/spire/config/server.conf']);
    expect(other).not.toHaveProperty('env');
  });

  it('reads credentials of AWS from the Secret, if there is one', () => {
    const [server] = containersOf(variant('PostgreSQL of AWS with credentials'));
    const from = (key: string) => ({ secretKeyRef: { name: 'aws', key } });
    expect(server?.env).toEqual([
      { name: 'AWS_ACCESS_KEY_ID', valueFrom: from('aws_access_key_id') },
      { name: 'AWS_SECRET_ACCESS_KEY', valueFrom: from('aws_secret_access_key') },
    ]);
    expect(server?.args).not.toContain('-expandEnv');
    expect(containersOf(variant('MySQL of AWS'))[0]).not.toHaveProperty('env');
  });

  it('mounts the certificates of the database where connection strings expect them, for the server alone', () => {
    const children = variant('several servers with PostgreSQL');
    expect(templateOf(children).spec?.volumes).toContainEqual({
      name: 'datastore-tls',
      secret: { secretName: 'db-tls', defaultMode: 0o440 },
    });
    expect(containersOf(children)[0]?.volumeMounts).toContainEqual({
      name: 'datastore-tls',
      mountPath: '/run/spire/db/certs',
      readOnly: true,
    });
  });

  it('gives the server a token for Vault, and the CA of Vault if there is one', () => {
    const children = variant('a CA of Vault');
    const { volumes = [] } = templateOf(children).spec ?? {};
    expect(volumes.filter(({ name }) => name.startsWith('vault-'))).toEqual([
      {
        name: 'vault-token',
        projected: {
          sources: [
            {
              serviceAccountToken: { audience: 'https://vault.example.io', expirationSeconds: 3600, path: 'token' },
            },
          ],
        },
      },
      { name: 'vault-ca', secret: { secretName: 'vault-ca' } },
    ]);
    const [server, controllerManager] = containersOf(children);
    const mounted = (container: typeof server) =>
      container?.volumeMounts?.filter(({ name }) => name.startsWith('vault-')).map(({ mountPath }) => mountPath);
    expect(mounted(server)).toEqual(['/var/run/secrets/vault', '/run/spire/vault-ca']);
    expect(mounted(controllerManager)).toEqual([]);
    expect(JSON.stringify(templateOf(variant('a CA of Vault with defaults')))).not.toContain('vault-ca');
  });

  it('lets the server request its CA from cert-manager, in its namespace', () => {
    const name = 'spire-server-certificate-requests';
    expect(objectOf(variant('a CA of cert-manager'), Role, name).rules).toEqual([
      {
        apiGroups: ['cert-manager.io'],
        resources: ['certificaterequests'],
        verbs: ['create', 'delete', 'get', 'list'],
      },
    ]);
    expect(objectsOf(render(), Role).map(({ metadata }) => metadata?.name)).not.toContain(name);
  });

  it('limits access to the bundle and the lease to their names', () => {
    const children = render({ values: { bundleConfigMap: 'other' } });
    expect(objectOf(children, Role, 'spire-bundle').rules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['other'], verbs: ['get', 'patch'] },
    ]);
    expect(objectOf(children, Role, 'spire-controller-manager-leader-election').rules).toContainEqual({
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: ['spire-controller-manager-leader-election'],
      verbs: ['get', 'update'],
    });
    expect(JSON.stringify(objectsOf(children, ClusterRole))).not.toContain('"*"');
  });

  it('configures webhooks that never block', () => {
    const { webhooks = [] } = objectOf(render(), ValidatingWebhookConfiguration);
    expect(
      webhooks.map(({ name, failurePolicy, clientConfig, rules }) => ({ name, failurePolicy, clientConfig, rules })),
    ).toEqual(
      ['clusterfederatedtrustdomain', 'clusterspiffeid'].map((kind) => ({
        name: `v${kind}.kb.io`,
        failurePolicy: 'Ignore',
        clientConfig: {
          service: {
            name: 'spire-controller-manager-webhook',
            namespace: 'zero-trust-workload-identity-manager',
            path: `/validate-spire-spiffe-io-v1alpha1-${kind}`,
          },
        },
        rules: [
          {
            apiGroups: ['spire.spiffe.io'],
            apiVersions: ['v1alpha1'],
            operations: ['CREATE', 'UPDATE'],
            resources: [`${kind}s`],
            scope: 'Cluster',
          },
        ],
      })),
    );
  });

  it('gives an identity to the pods of all namespaces but its own', () => {
    const children = render({ config: { operandNamespace: 'spire', className: 'ours' } });
    expect(objectOf(children, ClusterSPIFFEID).spec).toMatchObject({
      className: 'ours',
      fallback: true,
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['spire'] }],
      },
    });
  });
});

describe('serverObjects with federation', () => {
  it('opens the port only with federation', () => {
    expect(portsOf(render())).toEqual([
      ['grpc', 443],
      ['metrics', 9402],
    ]);
    expect(portsOf(variant('federation with SPIFFE'))).toEqual([
      ['grpc', 443],
      ['metrics', 9402],
      ['federation', 8443],
    ]);
  });

  it.each<[string, object]>([
    ['federation without peers on OpenShift', { termination: 'passthrough' }],
    ['federation with ACME', { termination: 'passthrough' }],
    ['federation with a certificate', { termination: 'reencrypt', externalCertificate: { name: 'route-tls' } }],
  ])('has a Route: %s', (name, tls) => {
    const { metadata, spec } = objectOf(variant(name), Route);
    expect(metadata?.name).toBe('spire-server-federation');
    expect(spec).toEqual({
      host: 'federation.example.io',
      to: { kind: 'Service', name: 'spire-server', weight: 100 },
      port: { targetPort: 'federation' },
      tls,
      wildcardPolicy: 'None',
    });
  });

  it.each<[string, ServerOverrides]>([
    ['without federation', { isOpenShift: true }],
    ['if it is not managed', { isOpenShift: true, spec: { federation: { managedRoute: 'false' } } }],
    ['where Routes are not served', { spec: { federation: {} } }],
  ])('has no Route %s', (_, overrides) => {
    const children = render(overrides);
    expect(objectsOf(children, Route)).toEqual([]);
    expect(objectsOf(children, Ingress)).toEqual([]);
  });

  it('has an Ingress where Routes are not served, if configured', () => {
    const backend = { service: { name: 'spire-server', port: { name: 'federation' } } };
    const paths = [{ path: '/', pathType: 'Prefix', backend }];
    const { metadata, spec } = objectOf(variant('federation with SPIFFE'), Ingress);
    expect(metadata?.annotations).toEqual({ 'nginx.ingress.kubernetes.io/backend-protocol': 'HTTPS' });
    expect(spec).toEqual({
      ingressClassName: 'nginx',
      rules: [{ host: 'public.example.io', http: { paths } }],
      tls: [{ hosts: ['public.example.io'], secretName: 'public-tls' }],
    });
    expect(objectOf(render({ spec: { federation: {}, ingress: {} } }), Ingress).spec).toEqual({
      rules: [{ host: 'federation.example.io', http: { paths } }],
    });
  });

  const servingCert: ServerSpec = {
    federation: { bundleEndpoint: { profile: 'https_web', httpsWeb: { servingCert: {} } } },
  };
  const unused: ServerSpec = {
    federation: { bundleEndpoint: { profile: 'https_spiffe', httpsWeb: { servingCert: {} } } },
  };
  it.each<[string, ServerOverrides, boolean, boolean]>([
    ['on OpenShift', { spec: servingCert, isOpenShift: true }, true, true],
    ['elsewhere', { spec: servingCert }, false, true],
    ['with another profile', { spec: unused, isOpenShift: true }, false, false],
    ['without federation', { isOpenShift: true }, false, false],
  ])('requests and mounts a certificate %s', (_, overrides, isRequested, isMounted) => {
    const children = render(overrides);
    expect(objectOf(children, Service, 'spire-server').metadata?.annotations).toEqual(
      isRequested ? { 'service.beta.openshift.io/serving-cert-secret-name': 'spire-server-serving-cert' } : undefined,
    );
    const volumes = templateOf(children).spec?.volumes ?? [];
    expect(volumes.filter(({ secret }) => secret)).toEqual(
      isMounted ? [{ name: 'serving-cert', secret: { secretName: 'spire-server-serving-cert' } }] : [],
    );
  });
});
