import { type Read, s } from '@bowline/runtime/resource';
import { LISTEN_ADDRESS } from './processes/listen.ts';

const key = { namespace: s.dnsLabel(), name: s.dnsSubdomain() };

/** config is the operator's section of the configuration. */
export const config = s.object({
  image: s
    .string()
    .minLength(1)
    .maxLength(512)
    .describe('The image of discovery pods and agents. Defaults to that of the manager.')
    .optional(),
  agentImage: s.string().minLength(1).maxLength(512).describe('The image of agents. Defaults to `image`.').optional(),
  requireDaemonSetOwner: s
    .boolean()
    .default(true)
    .describe('Only accept reports of pods of the DaemonSets that the operator creates.'),
  allowUnguardedReports: s
    .boolean()
    .default(false)
    .describe(
      'Create agents, which get the PIN, even if the admission policies of the install are missing, so that anyone who may change pods can forge reports.',
    ),
  networkPolicy: s
    .boolean()
    .default(true)
    .describe('Create a NetworkPolicy for the agents of each HSMDevice: only the manager may connect to them.'),
  parentRefs: s
    .array(s.object({ name: s.dnsSubdomain(), namespace: s.dnsLabel() }))
    .maxItems(64)
    .describe(
      "The values of parentRef with which an HSMSecret belongs to this operator. Defaults to the manager's own Deployment.",
    )
    .optional(),
  defaultDevice: s
    .object(key)
    .describe('The HSMDevice of HSMSecrets that name none, in namespaces without an HSMDevice of their own.')
    .optional(),
  agent: s
    .object({
      callTimeout: s
        .duration()
        .min('1s')
        .max('10m')
        .default('30s')
        .describe('The maximum duration of a call to an agent.'),
    })
    .default({}),
  mirror: s
    .object({
      debounce: s
        .duration()
        .min('0s')
        .max('10m')
        .default('5s')
        .describe('The delay between the last change of a pool and the comparison of its devices.'),
    })
    .default({}),
  api: s
    .object({
      enabled: s.boolean().default(false).describe('Serve the REST API, which the commands of the operator use.'),
      address: s
        .string()
        .maxLength(255)
        .pattern(LISTEN_ADDRESS)
        .default(':8090')
        .describe('Where the API is served, as host:port or :port.'),
    })
    .default({}),
  perObjectMetrics: s
    .boolean()
    .default(false)
    .describe('Add metrics with the labels namespace and pool, or namespace and name. Every object adds series.'),
  simulation: s
    .object({
      enabled: s
        .boolean()
        .default(false)
        .describe('Simulate devices instead of running discovery in containers. Only for trials.'),
    })
    .default({}),
});

/** Config is the parsed configuration of the operator. */
export type Config = Read<typeof config>;
