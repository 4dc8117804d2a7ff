import { describe, expect, it } from 'vitest';
import { type ServerOverrides, sampleServer } from '../testing/sample-inputs.test-support.ts';
import { SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { renderFile } from './rendered-file.ts';
import { upstreamConfig } from './upstream-config.ts';

const read = (overrides: ServerOverrides | undefined): unknown => {
  const config = upstreamConfig(sampleServer(overrides).spec, 'spire');
  return config && (JSON.parse(renderFile(config).text) as unknown);
};

describe('upstreamConfig', () => {
  it.each<[string, object | undefined]>([
    ['the defaults', undefined],
    [
      'a CA of Vault',
      [
        {
          vault: {
            plugin_data: {
              vault_addr: 'https://vault.example.io:8200',
              namespace: 'team',
              pki_mount_point: 'pki/spire',
              ca_cert_path: '/run/spire/vault-ca/ca.pem',
              k8s_auth: {
                k8s_auth_mount_point: 'cluster-one',
                k8s_auth_role_name: 'spire',
                token_path: '/var/run/secrets/vault/token',
              },
            },
          },
        },
      ],
    ],
    [
      'a CA of Vault with defaults',
      [
        {
          vault: {
            plugin_data: {
              vault_addr: 'https://vault.example.io',
              pki_mount_point: 'pki',
              k8s_auth: {
                k8s_auth_mount_point: 'kubernetes',
                k8s_auth_role_name: 'spire',
                token_path: '/var/run/secrets/vault/token',
              },
            },
          },
        },
      ],
    ],
    [
      'a CA of cert-manager',
      [
        {
          'cert-manager': {
            plugin_data: {
              issuer_group: 'cert-manager.io',
              issuer_kind: 'ClusterIssuer',
              issuer_name: 'root',
              namespace: 'spire',
            },
          },
        },
      ],
    ],
  ])('returns the plugin for %s', (variant, expected) => {
    expect(read(SERVER_VARIANTS[variant])).toEqual(expected);
  });
});
