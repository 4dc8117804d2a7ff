import type { SpireOIDCDiscoveryProvider } from '../api/spire-oidc-discovery-provider.ts';
import type { Component } from '../objects/labels.ts';
import type { OperandInput } from '../objects/operand-input.ts';
import { OIDC_PROVIDER } from '../spire/names.ts';

/** OidcInput is what the objects of a SpireOIDCDiscoveryProvider follow from. */
export interface OidcInput extends OperandInput {
  readonly spec: SpireOIDCDiscoveryProvider['spec'];
  readonly values: { readonly trustDomain: string; readonly jwtIssuer: string };
}

/** OIDC_CONF is the key of the configuration of the provider in its ConfigMap. */
export const OIDC_CONF = 'oidc-discovery-provider.conf';

/** OIDC_SERVING_CERT is the Secret with the certificate that the platform or the operator issues. */
export const OIDC_SERVING_CERT = 'oidc-serving-cert';

/** oidcComponent returns how objects of the provider are labelled. */
export function oidcComponent({ config }: OperandInput): Component {
  return { name: OIDC_PROVIDER, component: 'discovery', image: config.images.oidcDiscoveryProvider };
}

/** certificateSecret returns the name of the Secret with the certificate of the provider. */
export function certificateSecret({ spec }: OidcInput): string {
  return spec.tls?.secretName ?? OIDC_SERVING_CERT;
}

/** OIDC_PORT is the port of the Service of the provider. */
export const OIDC_PORT = 443;
