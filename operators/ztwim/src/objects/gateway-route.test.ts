import { describe, expect, it } from 'vitest';
import { oidcObjects } from '../oidc/oidc-objects.ts';
import { serverObjects } from '../server/server-objects.ts';
import { objectOf } from '../testing/rendered.test-support.ts';
import { sampleOidc, sampleServer } from '../testing/sample-inputs.test-support.ts';
import { OIDC_VARIANTS, SERVER_VARIANTS } from '../testing/variants.test-support.ts';
import { HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import type { Child } from './child.ts';

const server = (variant: string): readonly Child[] => serverObjects(sampleServer(SERVER_VARIANTS[variant]));
const oidc = (variant: string): readonly Child[] => oidcObjects(sampleOidc(OIDC_VARIANTS[variant]));

const parent = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'public' };
const complete = { ...parent, namespace: 'gateways', sectionName: 'tls' };
const backend = (name: string, port: number) => [{ group: '', kind: 'Service', name, port, weight: 1 }];
const matches = [{ path: { type: 'PathPrefix', value: '/' } }];
const PROVIDER = 'spire-spiffe-oidc-discovery-provider';

describe('gatewayRouteFor', () => {
  it.each<[string, readonly Child[], typeof TLSRoute | typeof HTTPRoute, object]>([
    [
      'federation behind a Gateway',
      server('federation behind a Gateway'),
      TLSRoute,
      {
        parentRefs: [complete],
        hostnames: ['public.example.io'],
        rules: [{ backendRefs: backend('spire-server', 8443) }],
      },
    ],
    [
      'federation with a certificate behind a Gateway',
      server('federation with a certificate behind a Gateway'),
      HTTPRoute,
      {
        parentRefs: [parent],
        hostnames: ['federation.example.io'],
        rules: [{ matches, backendRefs: backend('spire-server', 8443) }],
      },
    ],
    [
      'the provider',
      oidc('a TLSRoute'),
      TLSRoute,
      { parentRefs: [complete], hostnames: ['public.example.io'], rules: [{ backendRefs: backend(PROVIDER, 443) }] },
    ],
    [
      'the provider on OpenShift',
      oidc('an HTTPRoute'),
      HTTPRoute,
      {
        parentRefs: [parent],
        hostnames: ['oidc.example.io'],
        rules: [{ matches, backendRefs: backend(PROVIDER, 443) }],
      },
    ],
  ])('exposes %s in place of a Route or an Ingress', (_, children, kind, spec) => {
    // The kinds differ only in their names.
    expect(objectOf(children, kind as typeof TLSRoute).spec).toEqual(spec);
    const kinds = children.map(({ resource }) => resource.kind);
    expect(kinds.filter((each) => each === 'Route' || each === 'Ingress')).toEqual([]);
  });
});
