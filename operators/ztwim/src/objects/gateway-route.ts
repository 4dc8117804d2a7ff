import type { ObjectMeta } from '@bowline/kubernetes';
import type { SpireServer } from '../api/spire-server.ts';
import { GATEWAY_GROUP, type GatewayRoute, HTTPRoute, TLSRoute } from '../third-party/gateway-routes.ts';
import type { Child } from './child.ts';

type GatewaySettings = NonNullable<SpireServer['spec']['gateway']>;

/**
 * gatewayRouteFor returns a route of the Gateway API that exposes one Service under one host name. It contains the values
 * that the API server would fill in, because a list is compared as a whole.
 */
export function gatewayRouteFor(
  metadata: ObjectMeta,
  defaultHost: string,
  service: { readonly name: string; readonly port: number },
  { kind, name, namespace, sectionName, host = defaultHost }: GatewaySettings,
): Omit<Child, 'condition'> {
  const parent = {
    ...{ group: GATEWAY_GROUP, kind: 'Gateway', name },
    ...(namespace === undefined ? {} : { namespace }),
    ...(sectionName === undefined ? {} : { sectionName }),
  };
  const backendRefs = [{ group: '', kind: 'Service', ...service, weight: 1 }];
  const matches = [{ path: { type: 'PathPrefix', value: '/' } }];
  const object: GatewayRoute = {
    metadata,
    spec: {
      parentRefs: [parent],
      hostnames: [host],
      rules: [kind === 'TLSRoute' ? { backendRefs } : { matches, backendRefs }],
    },
  };
  return { resource: kind === 'TLSRoute' ? TLSRoute : HTTPRoute, object };
}
