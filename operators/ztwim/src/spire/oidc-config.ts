import type { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import { AGENT_SOCKET, OIDC_PROVIDER, PORTS } from './names.ts';

/** OIDC_CERT_DIR is the folder of the certificate in the pods of the provider. */
export const OIDC_CERT_DIR = '/etc/oidc/tls';

/** WORKLOAD_API_DIR is the folder of the Workload API socket in the pods of the provider. */
export const WORKLOAD_API_DIR = '/spiffe-workload-api';

/** OidcConfigInput is what the configuration of the provider follows from. */
export interface OidcConfigInput {
  readonly spec: SpireOIDCDiscoveryProvider['spec'];
  readonly values: { readonly trustDomain: string; readonly jwtIssuer: string };
  readonly namespace: string;
  readonly clusterDomain: string;
}

/** oidcConfig returns the content of oidc-discovery-provider.conf. */
export function oidcConfig(input: OidcConfigInput): object {
  const { spec, values } = input;
  return {
    domains: oidcDomains(input),
    health_checks: { bind_port: String(PORTS.oidcHealth), live_path: '/live', ready_path: '/ready' },
    jwt_issuer: values.jwtIssuer,
    log_format: spec.logFormat,
    log_level: spec.logLevel,
    // Clients look for the document below the path of the issuer.
    server_path_prefix: pathOf(values.jwtIssuer),
    serving_cert_file: {
      addr: `:${PORTS.oidc}`,
      cert_file_path: `${OIDC_CERT_DIR}/tls.crt`,
      key_file_path: `${OIDC_CERT_DIR}/tls.key`,
    },
    workload_api: { socket_path: `${WORKLOAD_API_DIR}/${AGENT_SOCKET}`, trust_domain: values.trustDomain },
  };
}

/** serviceNames returns the names under which a Service is reached in the cluster. */
export function serviceNames(name: string, namespace: string, clusterDomain: string): readonly string[] {
  return [name, `${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.${clusterDomain}`];
}

/** oidcDomains returns the host names that the provider answers to. */
export function oidcDomains({ spec, values, namespace, clusterDomain }: OidcConfigInput): readonly string[] {
  return [
    ...new Set([
      ...serviceNames(OIDC_PROVIDER, namespace, clusterDomain),
      hostOf(values.jwtIssuer),
      // A set, whose order is not to cause a rollout.
      ...[...(spec.additionalDomains ?? [])].sort(),
    ]),
  ];
}

/** hostOf returns the host name of the issuer. */
export function hostOf(jwtIssuer: string): string {
  return new URL(jwtIssuer).hostname;
}

function pathOf(jwtIssuer: string): string | undefined {
  const { pathname } = new URL(jwtIssuer);
  return pathname === '/' ? undefined : pathname;
}
