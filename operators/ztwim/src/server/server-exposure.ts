import { Ingress } from '@bowline/kubernetes';
import { isOn } from '../api/flag.ts';
import { type Child, child } from '../objects/child.ts';
import { externalCertificateAccess } from '../objects/external-certificate.ts';
import { gatewayRouteFor } from '../objects/gateway-route.ts';
import { ingressFor } from '../objects/ingress.ts';
import { objectLabels } from '../objects/labels.ts';
import { PORTS, SERVER } from '../spire/names.ts';
import { Route } from '../third-party/route.ts';
import { type ServerInput, serverComponent, usesServingCert } from './server-input.ts';

const NAME = 'spire-server-federation';
const EXTERNAL_CERTIFICATE = 'spire-server-federation-external-certificate';

/** serverExposure returns the objects that expose the federation endpoint: a route of the Gateway API, a Route or an Ingress. */
export function serverExposure(input: ServerInput): readonly Child[] {
  const { spec, isOpenShift, config } = input;
  if (!spec.federation) return [];
  const labels = objectLabels(input, serverComponent(input));
  const metadata = { name: NAME, namespace: config.operandNamespace, labels };
  const host = `federation.${input.values.trustDomain}`;
  if (spec.gateway) {
    const route = gatewayRouteFor(metadata, host, { name: SERVER, port: PORTS.federation }, spec.gateway);
    return [{ ...route, condition: 'GatewayRouteAvailable' }];
  }
  if (hasRoute(input)) {
    const secret = externalCertificateOf(input);
    const access = { ...metadata, name: EXTERNAL_CERTIFICATE };
    return [
      ...(secret === undefined ? [] : externalCertificateAccess(access, secret)),
      child('RouteAvailable', Route, { metadata, spec: routeSpec(input, host) }),
    ];
  }
  if (isOpenShift || !spec.ingress) return [];
  const backend = { service: { name: SERVER, port: { name: 'federation' } } };
  return [child('IngressAvailable', Ingress, ingressFor(metadata, host, backend, spec.ingress))];
}

type Exposed = Pick<ServerInput, 'spec' | 'isOpenShift'>;

function hasRoute({ spec, isOpenShift }: Exposed): boolean {
  return isOpenShift && !spec.gateway && isOn(spec.federation?.managedRoute);
}

/** externalCertificateOf returns the Secret with the certificate of the Route; undefined if there is none. */
export function externalCertificateOf(input: Exposed): string | undefined {
  if (!hasRoute(input) || !usesServingCert(input.spec)) return undefined;
  return input.spec.federation?.bundleEndpoint.httpsWeb?.servingCert?.externalSecretRef;
}

function routeSpec(input: ServerInput, host: string): Route['spec'] {
  const secret = externalCertificateOf(input);
  return {
    host,
    to: { kind: 'Service', name: SERVER, weight: 100 },
    port: { targetPort: 'federation' },
    tls: usesServingCert(input.spec)
      ? {
          termination: 'reencrypt',
          ...(secret === undefined ? {} : { externalCertificate: { name: secret } }),
        }
      : { termination: 'passthrough' },
    wildcardPolicy: 'None',
  };
}
