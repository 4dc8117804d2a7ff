import { s } from '@bowline/runtime/resource';
import { GATEWAY_NAME, HTTPS_URL, IMAGE_DIGEST } from '../checks/text-limits.ts';
import { checkedText } from './checked-text.ts';
import { secretKeyRef } from './secret-refs.ts';

/** port returns the schema of a TCP port. */
const port = () => s.integer('int32').min(1).max(65_535);

/** quantities returns the schema of resource quantities by name. */
const quantities = () => s.map(s.quantity()).maxProperties(16);

/** gatewayName returns the schema of the name of a gateway. */
export const gatewayName = () => checkedText(GATEWAY_NAME);

/** storageSpec is the schema of the volume that the agents of an IgnitionSync share. */
export const storageSpec = s.object({
  storageClassName: s
    .string()
    .maxLength(253)
    .default('')
    .describe('The StorageClass. Defaults to that of the cluster.'),
  size: s
    .quantity()
    .maxLength(32)
    .rule("type(self) == string ? self.matches('^[0-9.]*[1-9]') : self > 0", {
      message: 'storage.size must be greater than 0, for example 1Gi',
    })
    .default('1Gi')
    .describe('The size of the volume.'),
  accessMode: s
    .enum(['ReadWriteOnce', 'ReadWriteMany'])
    .default('ReadWriteMany')
    .describe('ReadWriteOnce works only while all gateways run on one node.'),
});

/** webhookSpec is the schema of the receiver of an IgnitionSync. */
export const webhookSpec = s.object({
  enabled: s.boolean().default(true).describe('Whether webhooks of Git servers are accepted.'),
  port: port().default(8443).describe('The port of the receiver. All IgnitionSyncs share the port of the operator.'),
  secretRef: secretKeyRef().describe('The secret of the webhook. Defaults to the secret of the operator.').optional(),
});

/** pollingSpec is the schema of the intervals at which the ref is resolved again. */
export const pollingSpec = s.object({
  enabled: s.boolean().default(true).describe('Whether the ref is resolved again at intervals.'),
  interval: s.duration().min('5s').max('24h').default('60s').describe('The interval.'),
});

/** gatewaySpec is the schema of how agents call the gateway in their pod. */
export const gatewaySpec = s.object({
  port: port().default(8043).describe('The port on which the gateway listens in its pod.'),
  tls: s.boolean().default(true).describe('Whether the gateway serves HTTPS on this port.'),
  apiKeySecretRef: secretKeyRef().describe('The API key of the gateway, as name:secret, with permission to write.'),
});

const validationWebhookSpec = s.object({
  url: checkedText(HTTPS_URL).describe('Called by the agent with the changes before each sync.'),
  timeout: s.duration().min('1s').max('60s').default('10s').describe('How long a response may take.'),
});

/** validationSpec is the schema of the checks before a sync. */
export const validationSpec = s.object({
  dryRunBefore: s.boolean().default(false).describe('Whether the changes are reported before each sync.'),
  webhook: validationWebhookSpec.describe('A service that may refuse a sync. Defaults to none.').optional(),
});

/** designerSessionPolicy returns the schema of the policy for open Designer sessions. */
export const designerSessionPolicy = () => s.enum(['wait', 'proceed', 'fail']);

const sessionTimeout = () => s.duration().max('24h');

// Rules also apply to the default, an empty object, before the defaults of its fields are filled in.
/** ignitionSpec is the schema of how syncs respect the users of a gateway and its redundancy. */
export const ignitionSpec = s
  .object({
    designerSessionPolicy: designerSessionPolicy()
      .default('wait')
      .describe('What a sync does while a Designer has one of the changed projects open.'),
    designerSessionTimeout: sessionTimeout().default('5m').describe('How long a sync waits for Designers.'),
    perspectiveSessionPolicy: s
      .enum(['graceful', 'immediate', 'none'])
      .default('none')
      .describe('What a sync does while Perspective sessions are open.'),
    perspectiveSessionTimeout: sessionTimeout()
      .default('1m')
      .describe('How long a sync waits for Perspective sessions.'),
    redundancyRole: s
      .enum(['', 'primary', 'backup'])
      .default('')
      .describe('A backup is synced after its peer. The annotation of a pod takes precedence.'),
    peerGatewayName: gatewayName().describe('The name of the other gateway of a redundant pair.').optional(),
  })
  .rule("!has(self.redundancyRole) || self.redundancyRole != 'backup' || has(self.peerGatewayName)", {
    message: 'ignition.peerGatewayName is missing; set it to the name of the primary gateway, or change redundancyRole',
    fieldPath: '.peerGatewayName',
  });

/** AGENT_RESOURCES are the resources of an agent unless an IgnitionSync sets others. */
export const AGENT_RESOURCES = {
  requests: { cpu: '50m', memory: '96Mi' },
  limits: { memory: '256Mi' },
} as const;

/** START_POLICY is the start policy of agents unless an IgnitionSync sets another. */
export const START_POLICY = 'StartWithLast';

/** startPolicy returns the schema of when a gateway starts whose desired commit cannot be placed. */
export const startPolicy = () => s.enum(['StartWithLast', 'WaitForSync']);

const agentImageSpec = s
  .object({
    repository: s.string().minLength(1).maxLength(512).describe("The image. Defaults to the operator's.").optional(),
    tag: s.string().minLength(1).maxLength(128).describe('The tag of the image.').optional(),
    pullPolicy: s
      .enum(['Always', 'IfNotPresent', 'Never'])
      .default('IfNotPresent')
      .describe('When the image is pulled.'),
    digest: checkedText(IMAGE_DIGEST).describe('The digest of the image. It takes precedence over the tag.').optional(),
  })
  .rule('has(self.repository) || (!has(self.tag) && !has(self.digest))', {
    message: 'agent.image.repository is missing; set it, or remove tag and digest',
    fieldPath: '.repository',
  });

/** agentSpec is the schema of the injected agents. */
export const agentSpec = s.object({
  image: agentImageSpec.describe("The image of agents. Defaults to the operator's.").optional(),
  resources: s
    .object({ requests: quantities().optional(), limits: quantities().optional() })
    .default(AGENT_RESOURCES)
    .describe('The resources of agents.'),
  startPolicy: startPolicy()
    .default(START_POLICY)
    .describe(
      'Whether a gateway that has files of an earlier sync starts with them if the desired commit cannot be placed within a minute.',
    ),
});
