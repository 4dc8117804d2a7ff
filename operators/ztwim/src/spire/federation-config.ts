import { isOn } from '../api/flag.ts';
import type { SpireServer } from '../api/spire-server.ts';
import { PORTS } from './names.ts';

type Federation = NonNullable<SpireServer['spec']['federation']>;
type Peer = NonNullable<Federation['federatesWith']>[number];

/** SERVING_CERT_DIR is the folder of the certificate of the federation endpoint in the pods of the server. */
export const SERVING_CERT_DIR = '/run/spire/serving-cert';

/** federationConfig returns the part of server.conf about other trust domains. */
export function federationConfig({ bundleEndpoint, federatesWith = [] }: Federation): object {
  return {
    bundle_endpoint: {
      address: '0.0.0.0',
      port: PORTS.federation,
      refresh_hint: `${bundleEndpoint.refreshHint}s`,
      profile: [endpointProfile(bundleEndpoint)],
    },
    federates_with:
      federatesWith.length === 0
        ? undefined
        : Object.fromEntries(federatesWith.map((peer) => [peer.trustDomain, peerConfig(peer)])),
  };
}

function endpointProfile({ profile, httpsWeb }: Federation['bundleEndpoint']): object {
  if (profile === 'https_spiffe') return { https_spiffe: {} };
  const { acme, servingCert } = httpsWeb ?? {};
  if (acme) {
    const { directoryUrl, domainName, email, tosAccepted } = acme;
    return {
      https_web: {
        acme: { directory_url: directoryUrl, domain_name: domainName, email, tos_accepted: isOn(tosAccepted) },
      },
    };
  }
  return {
    https_web: {
      serving_cert_file: {
        cert_file_path: `${SERVING_CERT_DIR}/tls.crt`,
        key_file_path: `${SERVING_CERT_DIR}/tls.key`,
        file_sync_interval: `${servingCert?.fileSyncInterval}s`,
      },
    },
  };
}

function peerConfig({ bundleEndpointUrl, bundleEndpointProfile, endpointSpiffeId }: Peer): object {
  return {
    bundle_endpoint_url: bundleEndpointUrl,
    bundle_endpoint_profile: [
      bundleEndpointProfile === 'https_spiffe'
        ? { https_spiffe: { endpoint_spiffe_id: endpointSpiffeId } }
        : { https_web: {} },
    ],
  };
}
