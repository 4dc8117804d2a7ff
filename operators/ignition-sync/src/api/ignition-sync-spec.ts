import { s } from '@bowline/runtime/resource';
import { bidirectionalSpec, deploymentStrategySpec, rollbackSpec, snapshotSpec } from './experimental-spec.ts';
import {
  agentSpec,
  gatewaySpec,
  ignitionSpec,
  pollingSpec,
  storageSpec,
  validationSpec,
  webhookSpec,
} from './gateway-spec.ts';
import { gitSpec } from './git-spec.ts';
import { additionalFile, driftMode, excludePatterns, normalizeSpec, pruneMode, sharedSpec } from './source-spec.ts';

/** DEFAULT_EXCLUDE_PATTERNS are the files that are not synced unless an IgnitionSync names others. */
export const DEFAULT_EXCLUDE_PATTERNS = ['**/.git/', '**/.gitkeep', '**/.resources/**'] as const;

const HAS_AUTH =
  'has(self.git.auth) && (has(self.git.auth.sshKey) || has(self.git.auth.githubApp) || has(self.git.auth.token))';

/** ignitionSyncSpec is the schema of the spec of an IgnitionSync. */
export const ignitionSyncSpec = s
  .object({
    git: gitSpec.describe('The repository and the ref to sync.'),
    storage: storageSpec
      .describe('A volume that the agents share. Without it, each agent fetches into a volume of its own pod.')
      .optional(),
    webhook: webhookSpec.default({}).describe('How webhooks of the Git server are received.'),
    polling: pollingSpec.default({}).describe('How often the ref is resolved again.'),
    gateway: gatewaySpec.describe('How agents call the gateway in their pod.'),
    siteNumber: s.string().maxLength(63).describe('The value of the template variable SiteNumber.').optional(),
    shared: sharedSpec.describe('What all gateways get.').optional(),
    additionalFiles: s
      .array(additionalFile)
      .maxItems(64)
      .listType('atomic')
      .describe('Any other files. They are placed last and replace others.')
      .optional(),
    excludePatterns: excludePatterns()
      .default([...DEFAULT_EXCLUDE_PATTERNS])
      .describe('Globs of the files that are not synced, by their path on the gateway.'),
    normalize: normalizeSpec.describe('What is changed in the config.json files.').optional(),
    prune: pruneMode()
      .default('Managed')
      .describe(
        'What a sync deletes: Managed: files that an earlier sync placed; All: also other files below the synced folders; None: nothing.',
      ),
    drift: driftMode().default('Report').describe('What happens to synced files that were changed on the gateway.'),
    bidirectional: bidirectionalSpec
      .describe('Sends changes on gateways to the repository. Experimental. Defaults to none.')
      .optional(),
    validation: validationSpec.describe('Checks before a sync. Defaults to none.').optional(),
    snapshots: snapshotSpec.describe('Snapshots before each sync. Experimental. Defaults to none.').optional(),
    rollback: rollbackSpec.describe('Returns gateways to a snapshot, as long as it is set.').optional(),
    deployment: deploymentStrategySpec
      .describe('The order in which gateways are synced. Experimental. Defaults to all at once.')
      .optional(),
    paused: s.boolean().default(false).describe('Whether nothing is fetched or placed. Gateways still start.'),
    ignition: ignitionSpec.default({}).describe('How syncs respect users of the gateway and redundancy.'),
    agent: agentSpec
      .describe("The injected agents. Defaults to the operator's image and standard resources.")
      .optional(),
  })
  .rule(`!has(self.bidirectional) || !self.bidirectional.enabled || (${HAS_AUTH})`, {
    message:
      'bidirectional needs credentials that may push; set git.auth.sshKey, githubApp or token, or set bidirectional.enabled to false',
    fieldPath: '.bidirectional.enabled',
  })
  .rule(
    '!has(self.deployment) || !self.deployment.autoRollback.enabled || (has(self.snapshots) && self.snapshots.enabled)',
    {
      message:
        'deployment.autoRollback needs snapshots; set snapshots.enabled to true, or deployment.autoRollback.enabled to false',
      fieldPath: '.deployment.autoRollback.enabled',
    },
  );
