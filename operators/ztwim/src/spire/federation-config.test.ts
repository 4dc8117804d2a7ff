import { describe, expect, it } from 'vitest';
import { sampleServer } from '../testing/sample-inputs.test-support.ts';
import { SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { federationConfig } from './federation-config.ts';

function federation(variant: string): object {
  const { spec } = sampleServer(SERVER_VARIANTS[variant]);
  if (!spec.federation) throw new Error(`the variant "${variant}" has no federation`);
  return JSON.parse(JSON.stringify(federationConfig(spec.federation))) as object;
}

const endpoint = { address: '0.0.0.0', port: 8443, refresh_hint: '300s' };
const peers = {
  'peer.io': {
    bundle_endpoint_url: 'https://peer.io:8443',
    bundle_endpoint_profile: [{ https_spiffe: { endpoint_spiffe_id: 'spiffe://peer.io/spire/server' } }],
  },
  'web.io': { bundle_endpoint_url: 'https://web.io/bundle', bundle_endpoint_profile: [{ https_web: {} }] },
};

describe('federationConfig', () => {
  it.each<[string, object]>([
    [
      'federation with SPIFFE',
      { bundle_endpoint: { ...endpoint, profile: [{ https_spiffe: {} }] }, federates_with: peers },
    ],
    ['federation without peers on OpenShift', { bundle_endpoint: { ...endpoint, profile: [{ https_spiffe: {} }] } }],
    [
      'federation with ACME',
      {
        bundle_endpoint: {
          ...endpoint,
          profile: [
            {
              https_web: {
                acme: {
                  directory_url: 'https://acme.example.io/directory',
                  domain_name: 'federation.example.io',
                  email: 'admin@example.io',
                  tos_accepted: true,
                },
              },
            },
          ],
        },
        federates_with: peers,
      },
    ],
    [
      'federation with a certificate',
      {
        bundle_endpoint: {
          ...endpoint,
          refresh_hint: '60s',
          profile: [
            {
              https_web: {
                serving_cert_file: {
                  cert_file_path: '/run/spire/serving-cert/tls.crt',
                  key_file_path: '/run/spire/serving-cert/tls.key',
                  file_sync_interval: '3600s',
                },
              },
            },
          ],
        },
      },
    ],
  ])('configures the endpoint and the peers: %s', (variant, expected) => {
    expect(federation(variant)).toEqual(expected);
  });
});
