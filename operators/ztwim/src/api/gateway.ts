import { s } from '@bowline/runtime/resource';

/** gatewayField returns the schema of a route of the Gateway API, which exposes a Service. */
export function gatewayField() {
  return s
    .object({
      name: s.dnsSubdomain().describe('The Gateway.'),
      namespace: s.dnsLabel().describe('Its namespace. Defaults to that of the operands.').optional(),
      sectionName: s.dnsSubdomain().describe('Its listener. Defaults to all that accept the route.').optional(),
      host: s.dnsSubdomain().describe('The host name. Defaults to that of a Route.').optional(),
      kind: s
        .enum(['TLSRoute', 'HTTPRoute'])
        .default('TLSRoute')
        .describe(
          'The kind of the route. TLSRoute passes connections through to the pods. With HTTPRoute the Gateway ends them, and needs a BackendTLSPolicy for the Service, which serves TLS only.',
        ),
    })
    .describe('A route of the Gateway API in place of a Route or an Ingress. Defaults to none.')
    .optional();
}
