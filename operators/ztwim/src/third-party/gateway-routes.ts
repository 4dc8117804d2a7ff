import { type KubernetesObject, resource } from '@bowline/kubernetes';

/** GatewayRoute is the type of a route of the Gateway API, as far as the operator writes it. */
export interface GatewayRoute extends KubernetesObject {
  readonly spec: {
    readonly parentRefs: readonly {
      readonly group: string;
      readonly kind: string;
      readonly name: string;
      readonly namespace?: string | undefined;
      readonly sectionName?: string | undefined;
    }[];
    readonly hostnames: readonly string[];
    readonly rules: readonly {
      readonly matches?: readonly { readonly path: { readonly type: string; readonly value: string } }[] | undefined;
      readonly backendRefs: readonly {
        readonly group: string;
        readonly kind: string;
        readonly name: string;
        readonly port: number;
        readonly weight: number;
      }[];
    }[];
  };
}

/** GATEWAY_GROUP is the API group of the Gateway API. */
export const GATEWAY_GROUP = 'gateway.networking.k8s.io';

/** TLSRoute is the kind that passes TLS connections through to a Service. It is served since version 1.5 of the API. */
export const TLSRoute = resource<GatewayRoute>()({
  group: GATEWAY_GROUP,
  version: 'v1',
  kind: 'TLSRoute',
  plural: 'tlsroutes',
  scope: 'Namespaced',
});

/** HTTPRoute is the kind that forwards requests to a Service. */
export const HTTPRoute = resource<GatewayRoute>()({
  group: GATEWAY_GROUP,
  version: 'v1',
  kind: 'HTTPRoute',
  plural: 'httproutes',
  scope: 'Namespaced',
});
