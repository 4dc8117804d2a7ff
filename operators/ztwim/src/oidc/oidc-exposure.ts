import { Ingress } from '@bowline/kubernetes';
import { isOn } from '../api/flag.ts';
import { type Child, child } from '../objects/child.ts';
import { externalCertificateAccess } from '../objects/external-certificate.ts';
import { gatewayRouteFor } from '../objects/gateway-route.ts';
import { ingressFor } from '../objects/ingress.ts';
import { objectLabels } from '../objects/labels.ts';
import { OIDC_PROVIDER } from '../spire/names.ts';
import { hostOf } from '../spire/oidc-config.ts';
import { Route } from '../third-party/route.ts';
import { OIDC_PORT, type OidcInput, oidcComponent } from './oidc-input.ts';

const NAME = 'spire-oidc-discovery-provider';
const EXTERNAL_CERTIFICATE = 'spire-oidc-discovery-provider-external-certificate';

/** oidcExposure returns the objects that expose the provider: a route of the Gateway API, a Route or an Ingress. */
export function oidcExposure(input: OidcInput): readonly Child[] {
  const { spec, values, config, isOpenShift } = input;
  const labels = objectLabels(input, oidcComponent(input));
  const metadata = { name: NAME, namespace: config.operandNamespace, labels };
  const host = hostOf(values.jwtIssuer);
  if (spec.gateway) {
    const route = gatewayRouteFor(metadata, host, { name: OIDC_PROVIDER, port: OIDC_PORT }, spec.gateway);
    return [{ ...route, condition: 'GatewayRouteAvailable' }];
  }
  if (hasRoute(input)) {
    const secret = spec.externalSecretRef;
    const access = { ...metadata, name: EXTERNAL_CERTIFICATE };
    return [
      ...(secret === undefined ? [] : externalCertificateAccess(access, secret)),
      child('RouteAvailable', Route, { metadata, spec: routeSpec(input, host) }),
    ];
  }
  if (isOpenShift || !spec.ingress) return [];
  const backend = { service: { name: OIDC_PROVIDER, port: { name: 'https' } } };
  return [child('IngressAvailable', Ingress, ingressFor(metadata, host, backend, spec.ingress))];
}

type Exposed = Pick<OidcInput, 'spec' | 'isOpenShift'>;

function hasRoute({ spec, isOpenShift }: Exposed): boolean {
  return isOpenShift && !spec.gateway && isOn(spec.managedRoute);
}

/** externalCertificateOf returns the Secret with the certificate of the Route; undefined if there is none. */
export function externalCertificateOf(input: Exposed): string | undefined {
  return hasRoute(input) ? input.spec.externalSecretRef : undefined;
}

function routeSpec({ spec }: OidcInput, host: string): Route['spec'] {
  return {
    host,
    to: { kind: 'Service', name: OIDC_PROVIDER, weight: 100 },
    port: { targetPort: 'https' },
    tls: {
      termination: 'reencrypt',
      insecureEdgeTerminationPolicy: 'Redirect',
      ...(spec.externalSecretRef === undefined ? {} : { externalCertificate: { name: spec.externalSecretRef } }),
    },
    wildcardPolicy: 'None',
  };
}
