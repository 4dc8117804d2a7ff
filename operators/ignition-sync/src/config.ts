import { type Read, s } from '@bowline/runtime/resource';
import { checkedText } from './api/checked-text.ts';
import { HTTP_URL } from './checks/text-limits.ts';

/** config is the operator's section of the configuration. */
export const config = s.object({
  webhookReceiverPort: s
    .integer('int32')
    .min(0)
    .max(65_535)
    .default(8443)
    .describe('The port on which webhooks of Git servers are received. 0: none are received.'),
  webhookReceiverHost: s
    .string()
    .maxLength(253)
    .default('')
    .describe('The address on which webhooks are received. Defaults to all addresses.'),
  webhookReceiverCertificateFolder: s
    .string()
    .minLength(1)
    .maxLength(4096)
    .describe(
      'The folder with tls.crt and tls.key for the receiver, which are reloaded when they change. Defaults to plain HTTP, for an ingress that terminates TLS.',
    )
    .optional(),
  receiverSecret: s
    .object({ name: s.dnsSubdomain().describe('The name of the Secret.') })
    .describe(
      "The Secret in the manager's namespace with the keys hmac and token, with which requests to the receiver are authenticated. Defaults to the variables WEBHOOK_HMAC_SECRET and WEBHOOK_BEARER_TOKEN.",
    )
    .optional(),
  allowUnauthenticatedWebhooks: s
    .boolean()
    .default(false)
    .describe('Accept requests to the receiver without authentication if none is configured.'),
  acceptDuplicatesWith: s
    .enum([200, 202])
    .default(200)
    .describe('The HTTP status for a request that changes nothing. Kargo needs 202.'),
  webhookRateLimit: s
    .integer('int32')
    .min(1)
    .max(100_000)
    .default(100)
    .describe('The maximum number of requests to the receiver per IgnitionSync and minute, for each replica.'),
  gitConcurrency: s
    .integer('int32')
    .min(1)
    .max(64)
    .default(5)
    .describe('The maximum number of git processes that fetch at the same time.'),
  gitTimeout: s.duration().min('1s').max('1h').default('2m').describe('The maximum duration of a git operation.'),
  maxRepositoryMiB: s
    .integer('int32')
    .min(1)
    .max(1_048_576)
    .default(2048)
    .describe('The maximum size of what is fetched from a repository, in MiB.'),
  workFolder: s
    .string()
    .minLength(1)
    .maxLength(4096)
    .describe('The folder for repositories. Defaults to the scratch folder of the manager.')
    .optional(),
  allowPlainHttp: s
    .boolean()
    .default(false)
    .describe('Allow http:// repositories, to which credentials are sent in plain text. Loopback is always allowed.'),
  proxy: s
    .object({
      https: checkedText(HTTP_URL).describe('The proxy for https:// repositories.').optional(),
      no: s
        .array(s.string().minLength(1).maxLength(253))
        .maxItems(64)
        .default([])
        .describe('The hosts and domains that are connected to directly.'),
    })
    .describe('The proxy for Git servers, also of agents. Defaults to none.')
    .optional(),
  agentImage: s
    .string()
    .minLength(1)
    .maxLength(512)
    .describe('The image of agents. Defaults to that of the manager.')
    .optional(),
  agentUser: s
    .integer()
    .min(1)
    .max(2_147_483_647)
    .default(2003)
    .describe('The user of agents in pods that set none. 2003 is the user of the Ignition image.'),
  githubApps: s
    .boolean()
    .default(false)
    .describe('Allow authentication as a GitHub App, which grants the operator to create and patch Secrets.'),
  requireNamespaceLabel: s
    .boolean()
    .default(false)
    .describe('Inject agents only in namespaces with the label ignition-sync.io/injection: enabled.'),
  trustAllAuthors: s
    .boolean()
    .default(false)
    .describe(
      'Reconcile every IgnitionSync, even if no webhook has reviewed whether its author has permission to read the Secrets that it names.',
    ),
  perObjectMetrics: s
    .boolean()
    .default(false)
    .describe('Label metrics with the namespace and name of each IgnitionSync. Each IgnitionSync adds series.'),
});

/** Config is the operator's section of the configuration, with defaults. */
export type Config = Read<typeof config>;
