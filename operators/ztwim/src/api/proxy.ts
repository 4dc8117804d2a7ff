import { s } from '@bowline/runtime/resource';

// Everyone who can read pods can read the variables of their containers, so the URLs contain no credentials.
const proxyUrl = () => s.string().maxLength(2048).pattern('^https?://[^\\s@]+$');

/** proxy is the schema of how the pods of all operands reach other networks. */
export const proxy = s.object({
  httpProxy: proxyUrl().describe('The proxy of HTTP requests: a URL without a user name.').optional(),
  httpsProxy: proxyUrl().describe('The proxy of HTTPS requests: a URL without a user name.').optional(),
  noProxy: s
    .string()
    .maxLength(4096)
    .pattern('^[^\\s]*$')
    .describe(
      'Hosts that are reached directly, separated by commas. The Services of the cluster always are, with those of Kubernetes and of the SPIRE server.',
    )
    .optional(),
  trustedCAConfigMap: s
    .dnsSubdomain()
    .describe(
      'A ConfigMap in the namespace of the operands with further trusted CAs, in PEM. Pods do not start while it is missing, and read it when they start.',
    )
    .optional(),
});
