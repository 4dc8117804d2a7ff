import { Ingress } from '@bowline/kubernetes';
import { isOn } from '../api/flag.ts';
import type { SpireServer } from '../api/spire-server.ts';
import { type Child, child } from '../objects/child.ts';
import { ingressFor } from '../objects/ingress.ts';
import { objectLabels } from '../objects/labels.ts';
import { SERVER } from '../spire/names.ts';
import { Route } from '../third-party/route.ts';
import { type ServerInput, serverComponent, usesServingCert } from './server-input.ts';

const NAME = 'spire-server-federation';

/** serverExposure returns the Route or Ingress of the federation endpoint; undefined if there is none. */
export function serverExposure(input: ServerInput): Child | undefined {
  const { spec, isOpenShift } = input;
  if (!spec.federation) return undefined;
  if (!isOpenShift) return spec.ingress && federationIngress(input, spec.ingress);
  return isOn(spec.federation.managedRoute) ? federationRoute(input) : undefined;
}

function hostOf({ values }: ServerInput): string {
  return `federation.${values.trustDomain}`;
}

function federationRoute(input: ServerInput): Child {
  const { spec, config } = input;
  const externalSecretRef = spec.federation?.bundleEndpoint.httpsWeb?.servingCert?.externalSecretRef;
  return child('RouteAvailable', Route, {
    metadata: {
      name: NAME,
      namespace: config.operandNamespace,
      labels: objectLabels(input, serverComponent(input)),
    },
    spec: {
      host: hostOf(input),
      to: { kind: 'Service', name: SERVER, weight: 100 },
      port: { targetPort: 'federation' },
      tls: usesServingCert(spec)
        ? {
            termination: 'reencrypt',
            ...(externalSecretRef === undefined ? {} : { externalCertificate: { name: externalSecretRef } }),
          }
        : { termination: 'passthrough' },
      wildcardPolicy: 'None',
    },
  });
}

function federationIngress(input: ServerInput, ingress: NonNullable<SpireServer['spec']['ingress']>): Child {
  const metadata = {
    name: NAME,
    namespace: input.config.operandNamespace,
    labels: objectLabels(input, serverComponent(input)),
  };
  const backend = { service: { name: SERVER, port: { name: 'federation' } } };
  return child('IngressAvailable', Ingress, ingressFor(metadata, hostOf(input), backend, ingress));
}
