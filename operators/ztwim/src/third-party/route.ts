import { type KubernetesObject, resource } from '@bowline/kubernetes';

/** Route is the type of an OpenShift Route, as far as the operator writes it. */
export interface Route extends KubernetesObject {
  readonly spec: {
    readonly host: string;
    readonly to: { readonly kind: 'Service'; readonly name: string; readonly weight: number };
    readonly port: { readonly targetPort: string };
    readonly tls: {
      readonly termination: 'passthrough' | 'reencrypt';
      readonly insecureEdgeTerminationPolicy?: 'Redirect' | 'None' | undefined;
      readonly externalCertificate?: { readonly name: string } | undefined;
    };
    readonly wildcardPolicy: 'None';
  };
}

/** Route is the kind with which OpenShift exposes a Service. Other clusters do not serve it. */
export const Route = resource<Route>()({
  group: 'route.openshift.io',
  version: 'v1',
  kind: 'Route',
  plural: 'routes',
  scope: 'Namespaced',
});
