import { s } from '@bowline/runtime/resource';
import { REF_NAME } from '../checks/ref-name.ts';
import { HTTP_URL, S3_BUCKET, SNAPSHOT_NAME } from '../checks/text-limits.ts';
import { checkedText } from './checked-text.ts';
import { gatewayName } from './gateway-spec.ts';
import { excludePatterns, relativePath } from './source-spec.ts';

const enabled = () => s.boolean().default(false);
const gatewayNames = () => s.array(gatewayName()).maxItems(64).listType('atomic');

const bidirectionalGuardrailsSpec = s.object({
  maxFileSize: s.quantity().maxLength(32).default('10Mi').describe('The maximum size of a file.'),
  maxFilesPerPR: s.integer('int32').min(1).max(10_000).default(100).describe('The maximum number of files.'),
  excludePatterns: excludePatterns().describe('Files that are never sent. Defaults to none.').optional(),
});

/** bidirectionalSpec is the schema of how changes on gateways are sent to the repository. */
export const bidirectionalSpec = s
  .object({
    enabled: enabled().describe('Whether changes on gateways are sent to the repository.'),
    watchPaths: s
      .array(relativePath())
      .maxItems(64)
      .listType('atomic')
      .describe('The watched paths in the data folder.')
      .optional(),
    targetBranch: checkedText(REF_NAME)
      .default('gateway-changes/{{.Namespace}}/{{.GatewayName}}')
      .describe('The branch that changes are pushed to, with template variables, which are written without spaces.'),
    debounce: s
      .duration()
      .min('1s')
      .max('1h')
      .default('30s')
      .describe('How long no file may change before changes are sent.'),
    createPR: s.boolean().default(false).describe('Whether a pull request is opened.'),
    prLabels: s
      .array(s.string().minLength(1).maxLength(100))
      .maxItems(64)
      .listType('atomic')
      .describe('The labels of the pull request.')
      .optional(),
    conflictStrategy: s
      .enum(['gitWins', 'gatewayWins', 'manual'])
      .default('gitWins')
      .describe('What happens to a file that was changed on both sides.'),
    forge: s
      .enum(['github', 'gitlab', 'gitea'])
      .describe('The API for pull requests. Defaults to that of the host of the repository.')
      .optional(),
    guardrails: bidirectionalGuardrailsSpec.default({}).describe('Limits of what is sent.'),
  })
  .rule('!self.enabled || (has(self.watchPaths) && self.watchPaths.size() > 0)', {
    message: 'bidirectional.watchPaths is empty; list the paths to watch, or set enabled to false',
    fieldPath: '.watchPaths',
  });

const s3StorageSpec = s.object({
  bucket: checkedText(S3_BUCKET).describe('The bucket.'),
  keyPrefix: relativePath().describe('The prefix of the keys. Defaults to none.').optional(),
  endpoint: checkedText(HTTP_URL).describe('The endpoint. Defaults to that of AWS in the region.').optional(),
  region: s.string().minLength(1).maxLength(64).describe('The region. Defaults to us-east-1.').optional(),
  credentialsSecretRef: s
    .object({ name: s.dnsSubdomain().describe('The name of a Secret in the same namespace.') })
    .describe('A Secret with the keys access-key-id and secret-access-key.'),
});

const snapshotStorageSpec = s
  .object({
    type: s.enum(['pvc', 's3', 'gcs']).default('pvc').describe('Where snapshots are stored: pvc is the data folder.'),
    s3: s3StorageSpec.describe('An S3 bucket.').optional(),
  })
  .rule("!has(self.type) || self.type != 'gcs'", {
    message:
      'snapshots.storage.type gcs is not supported; use s3 with the endpoint https://storage.googleapis.com and an HMAC key, or pvc',
    fieldPath: '.type',
  })
  .rule("!has(self.type) || self.type != 's3' || has(self.s3)", {
    message: 'snapshots.storage.s3 is missing; set its bucket and credentialsSecretRef, or change type to pvc',
    fieldPath: '.s3',
  });

/** snapshotSpec is the schema of the snapshots before each sync. */
export const snapshotSpec = s.object({
  enabled: enabled().describe('Whether the files that a sync will change are saved before it.'),
  retentionCount: s.integer('int32').min(1).max(50).default(5).describe('How many snapshots of a gateway are kept.'),
  storage: snapshotStorageSpec.default({}).describe('Where snapshots are stored.'),
});

/** rollbackSpec is the schema of a rollback. */
export const rollbackSpec = s.object({
  toSnapshot: checkedText(SNAPSHOT_NAME).describe('The snapshot.'),
  gateways: gatewayNames().describe('The gateways that stay at the snapshot. Defaults to all that have it.').optional(),
});

/** REST_STAGE is the name of the last stage, with the gateways that are in no other. */
export const REST_STAGE = 'rest';

const deploymentStage = s
  .object({
    name: s
      .dnsLabel()
      .rule(`self != '${REST_STAGE}'`, {
        message: `${REST_STAGE} is the name of the last stage, with the gateways of no other; choose another name`,
      })
      .describe('The name of the stage.'),
    gateways: gatewayNames().describe('The gateways of the stage, by name.').optional(),
    gatewaySelector: s
      .map(s.string().maxLength(63))
      .maxProperties(16)
      .describe('The labels of the pods of the gateways of the stage.')
      .optional(),
    postSyncWait: s
      .duration()
      .max('24h')
      .default('30s')
      .describe('How long the stage takes after its last gateway is synced.'),
    healthCheckUrl: checkedText(HTTP_URL)
      .describe('Requested by the agents of the stage; it must return 200. Defaults to none.')
      .optional(),
    requireApproval: s.boolean().default(false).describe('Whether the stage waits for the approval of its commit.'),
  })
  .rule('has(self.gateways) || has(self.gatewaySelector)', {
    message: 'the stage has no gateways; set gateways or gatewaySelector',
  });

/** autoRollbackSpec is the schema of when a gateway returns to its snapshot. */
export const autoRollbackSpec = s.object({
  enabled: enabled().describe('Whether a gateway returns to its snapshot when a trigger fires. It needs snapshots.'),
  triggers: s
    .array(s.enum(['scanFailure', 'projectLoadError', 'configError', 'healthCheckFailure']))
    .maxItems(4)
    .listType('set')
    .default(['scanFailure'])
    .describe('What triggers a rollback.'),
});

/** deploymentStrategySpec is the schema of the order in which gateways are synced. */
export const deploymentStrategySpec = s
  .object({
    strategy: s
      .enum(['all-at-once', 'canary'])
      .default('all-at-once')
      .describe('Whether gateways are synced in stages.'),
    stages: s.array(deploymentStage).maxItems(64).listMapBy('name').describe('The stages of canary.').optional(),
    syncOrder: gatewayNames().describe('Gateways that are synced one after the other, before the rest.').optional(),
    maxParallel: s
      .integer('int32')
      .min(1)
      .max(400)
      .default(25)
      .describe('How many gateways are synced at the same time.'),
    autoRollback: autoRollbackSpec.default({}).describe('When a gateway returns to its snapshot.'),
  })
  .rule("!has(self.stages) || self.stages.size() == 0 || self.strategy == 'canary'", {
    message: 'deployment.stages need the strategy canary; set deployment.strategy to canary, or remove the stages',
    fieldPath: '.stages',
  });
