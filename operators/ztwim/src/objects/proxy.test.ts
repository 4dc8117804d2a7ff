import { describe, expect, it } from 'vitest';
import { agentObjects } from '../agent/agent-objects.ts';
import { csiObjects } from '../csi/csi-objects.ts';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import { objectOf, templateOf } from '../testing/rendered.test-support.ts';
import {
  type SharedSpec,
  sampleAgent,
  sampleCsi,
  sampleOidc,
  sampleServer,
} from '../testing/sample-inputs.test-support.ts';
import { PROXY } from '../testing/variants.test-support.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';

const all = (proxy: SharedSpec['proxy']) =>
  [
    serverObjects(sampleServer({ shared: { proxy } })),
    agentObjects(sampleAgent({ shared: { proxy } })),
    csiObjects(sampleCsi({ shared: { proxy }, spec: { selinux: true } })),
    oidcObjects(sampleOidc({ shared: { proxy } })),
  ].map((children) => templateOf(children).spec);

const containersOf = (proxy: SharedSpec['proxy']) =>
  all(proxy).flatMap((pod) => [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])]);

const DIRECT =
  'localhost,127.0.0.1,$(KUBERNETES_SERVICE_HOST),kubernetes.default,.svc,.cluster.local,spire-server.zero-trust-workload-identity-manager';

describe('the proxy', () => {
  it('is set in every container, with the CAs that it needs', () => {
    const containers = containersOf(PROXY);
    expect(containers).toHaveLength(7);
    for (const { env, volumeMounts } of containers) {
      expect(env).toEqual(
        expect.arrayContaining([
          { name: 'HTTP_PROXY', value: PROXY.httpProxy },
          { name: 'HTTPS_PROXY', value: PROXY.httpsProxy },
          { name: 'NO_PROXY', value: `${DIRECT},.example.io,10.0.0.0/8` },
          { name: 'SSL_CERT_DIR', value: '/etc/ssl/certs:/run/trusted-ca' },
        ]),
      );
      expect(volumeMounts).toContainEqual({ name: 'trusted-ca', mountPath: '/run/trusted-ca', readOnly: true });
    }
    for (const pod of all(PROXY)) {
      expect(pod?.volumes).toContainEqual({ name: 'trusted-ca', configMap: { name: 'trusted-cas' } });
    }
  });

  it.each<[string, NonNullable<SharedSpec['proxy']>, readonly string[]]>([
    ['CAs alone', { trustedCAConfigMap: 'cas' }, ['SSL_CERT_DIR']],
    ['a proxy alone', { httpsProxy: 'http://proxy' }, ['HTTPS_PROXY', 'NO_PROXY']],
    ['direct hosts alone', { noProxy: 'a.io' }, []],
  ])('sets only what is configured: %s', (_, proxy, expected) => {
    const [, controllerManager] = all(proxy)[0]?.containers ?? [];
    expect(controllerManager?.env?.map(({ name }) => name)).toEqual(['ENABLE_WEBHOOKS', ...expected]);
  });

  it('lets OpenShift admit the volume of the CAs', () => {
    const volumes = (proxy: SharedSpec['proxy']) =>
      objectOf(csiObjects(sampleCsi({ shared: { proxy }, isOpenShift: true })), SecurityContextConstraints).volumes;
    expect(volumes(PROXY)).toEqual(['configMap', 'hostPath', 'projected']);
    expect(volumes(undefined)).toEqual(['hostPath', 'projected']);
  });
});
