import { describe, expect, it } from 'vitest';
import { type OidcSpec, type Overrides, sampleOidc } from '../testing/sample-inputs.test-support.ts';
import { oidcConfig } from './oidc-config.ts';
import { renderFile } from './rendered-file.ts';

function read(overrides: Overrides<OidcSpec> = {}): object {
  const { spec, values, config } = sampleOidc(overrides);
  const { operandNamespace: namespace, clusterDomain } = config;
  return JSON.parse(renderFile(oidcConfig({ spec, values, namespace, clusterDomain })).text) as object;
}

const service = 'spire-spiffe-oidc-discovery-provider';
const namesIn = (namespace: string, domain: string): readonly string[] => [
  service,
  `${service}.${namespace}`,
  `${service}.${namespace}.svc`,
  `${service}.${namespace}.svc.${domain}`,
];

describe('oidcConfig', () => {
  it('contains the defaults', () => {
    expect(read()).toEqual({
      domains: [...namesIn('zero-trust-workload-identity-manager', 'cluster.local'), 'oidc.example.io'],
      health_checks: { bind_port: '8008', live_path: '/live', ready_path: '/ready' },
      jwt_issuer: 'https://oidc.example.io',
      log_format: 'text',
      log_level: 'info',
      serving_cert_file: {
        addr: ':8443',
        cert_file_path: '/etc/oidc/tls/tls.crt',
        key_file_path: '/etc/oidc/tls/tls.key',
      },
      workload_api: { socket_path: '/spiffe-workload-api/spire-agent.sock', trust_domain: 'example.io' },
    });
  });

  it('contains every domain once, in the same order for the same set', () => {
    const config = { operandNamespace: 'spire', clusterDomain: 'k8s.local' };
    const domains = ['b.io', 'oidc.example.io', 'a.io', `${service}.spire.svc`];
    const expected = [...namesIn('spire', 'k8s.local'), 'oidc.example.io', 'a.io', 'b.io'];
    expect(read({ spec: { additionalDomains: domains }, config })).toHaveProperty('domains', expected);
    expect(read({ spec: { additionalDomains: domains.toReversed() }, config })).toHaveProperty('domains', expected);
  });

  it.each<[string, string, string | undefined]>([
    ['HTTPS://OIDC.Example.io', 'oidc.example.io', undefined],
    ['https://oidc.example.io/', 'oidc.example.io', undefined],
    ['http://oidc.example.io:8443', 'oidc.example.io', undefined],
    ['https://example.io/tenants/one', 'example.io', '/tenants/one'],
  ])('serves the host and the path of the issuer %s', (jwtIssuer, host, prefix) => {
    const config = read({ values: { jwtIssuer } }) as { domains: string[]; server_path_prefix?: string };
    expect(config).toHaveProperty('jwt_issuer', jwtIssuer);
    expect(config.domains.at(-1)).toBe(host);
    expect(config.server_path_prefix).toBe(prefix);
  });
});
