import type { WrittenOf } from '@bowline/runtime/resource';
import type { IgnitionSync } from './ignition-sync.ts';
import type { SyncProfile } from './sync-profile.ts';

/** Spec is the spec of an IgnitionSync as its author writes it. */
export type Spec = WrittenOf<typeof IgnitionSync>['spec'];

/** ProfileSpec is the spec of a SyncProfile as its author writes it. */
export type ProfileSpec = WrittenOf<typeof SyncProfile>['spec'];

const key = { name: 'a', key: 'b' };
const GIT = { repo: 'https://git.example.com/plant.git', ref: 'main' };
const SSH = { ...GIT, repo: 'git@git.example.com:plant.git' };
const app = { appId: 1, installationId: 2, privateKeySecretRef: key };
const stage = { name: 'first', gateways: ['site'] };

/** minimal returns the spec of an IgnitionSync with some fields replaced. */
export function minimal(changes: object = {}): Spec {
  return { git: GIT, gateway: { apiKeySecretRef: key }, ...changes };
}

/** profile returns the spec of a SyncProfile with some fields replaced. */
export function profile(changes: object = {}): ProfileSpec {
  return { mappings: [{ source: 'services/site', destination: 'projects' }], ...changes };
}

const git = (changes: object, of: object = GIT): object => ({ git: { ...of, ...changes } });
const canary = (changes: object): object => ({
  deployment: { strategy: 'canary', stages: [{ ...stage, ...changes }] },
});
const s3 = (changes: object): object => ({
  snapshots: { storage: { type: 's3', s3: { bucket: 'plant', credentialsSecretRef: { name: 'a' }, ...changes } } },
});

/** VALID are changes of the minimal IgnitionSync that are accepted. */
export const VALID: readonly (readonly [description: string, changes: object])[] = [
  ['ssh key', git({ auth: { sshKey: { secretRef: key, knownHosts: { secretRef: key } } } }, SSH)],
  ['ssh key and ssh://', git({ repo: 'ssh://git@host/a', auth: { sshKey: { secretRef: key } } })],
  ['GitHub App', git({ auth: { githubApp: app } })],
  ['token', git({ auth: { token: { secretRef: key } } })],
  ['empty auth', git({ auth: {} })],
  ['CA and signatures', git({ caSecretRef: key, verify: { format: 'ssh', secretRef: key } })],
  ['storage', { storage: { size: 1_073_741_824 } }],
  ['shared', { shared: { scripts: { enabled: true, source: 'shared/scripts' }, udts: {} } }],
  ['backup', { ignition: { redundancyRole: 'backup', peerGatewayName: 'site' } }],
  [
    'bidirectional',
    { ...git({ auth: { token: { secretRef: key } } }), bidirectional: { enabled: true, watchPaths: ['projects'] } },
  ],
  ['s3', s3({ endpoint: 'http://minio:9000', keyPrefix: 'a/b' })],
  ['canary', canary({ gatewaySelector: { tier: 'test' } })],
  [
    'automatic rollback',
    { snapshots: { enabled: true }, deployment: { autoRollback: { enabled: true, triggers: ['configError'] } } },
  ],
  ['agent', { agent: { image: { repository: 'example.com/agent', tag: '1' } } }],
];

/** INVALID are changes of the minimal IgnitionSync that are refused: the field, the changes, and part of the message. */
export const INVALID: readonly (readonly [field: string, changes: object, message: string])[] = [
  ['spec.git', { git: undefined }, 'Required value'],
  ['spec.git.repo', git({ repo: undefined }), 'Required value'],
  ['spec.git.repo', git({ repo: '' }), 'should be at least 1 chars long'],
  ['spec.git.repo', git({ repo: 'https://me:secret@host/a' }), 'contains credentials, which everyone'],
  ['spec.git.repo', git({ repo: '-x' }), 'must begin with https://'],
  ['spec.git.repo', git({ repo: 'ext::sh -c id' }), 'contains white space'],
  ['spec.git.repo', git({ repo: 'ext::sh' }), 'must begin with https://'],
  ['spec.git.repo', git({ repo: 'file:///srv/a' }), 'must begin with https://'],
  ['spec.git.ref', git({ ref: undefined }), 'Required value'],
  ['spec.git.ref', git({ ref: '-x' }), 'must not begin with a dash'],
  ['spec.git.ref', git({ ref: 'a..b' }), 'is no name of a branch or tag'],
  ['spec.git.ref', git({ ref: 'a b' }), 'remove it'],
  ['spec.git.auth', git({ auth: { token: { secretRef: key }, githubApp: app } }), 'remove the others'],
  ['spec.git.auth.sshKey', git({ auth: { sshKey: { secretRef: key } } }), 'change git.repo to ssh://'],
  ['spec.git.auth.token', git({ auth: { token: { secretRef: key } } }, SSH), 'change git.repo to https://'],
  ['spec.git.auth.githubApp', git({ auth: { githubApp: app } }, SSH), 'change git.repo to https://'],
  ['spec.git.auth.githubApp.appId', git({ auth: { githubApp: { ...app, appId: 0 } } }), 'greater than or equal to 1'],
  [
    'spec.git.auth.githubApp.apiBaseURL',
    git({ auth: { githubApp: { ...app, apiBaseURL: 'http://a' } } }),
    'must be an https:// URL',
  ],
  [
    'spec.git.auth.token.username',
    git({ auth: { token: { secretRef: key, username: 'a:b' } } }),
    'must not contain ":"',
  ],
  ['spec.git.auth.token.secretRef.key', git({ auth: { token: { secretRef: { name: 'a' } } } }), 'Required value'],
  ['spec.git.caSecretRef.key', git({ caSecretRef: { name: 'a', key: 'a/b' } }), 'write the key as in the Secret'],
  ['spec.git.verify.format', git({ verify: { format: 'x509', secretRef: key } }), 'supported values: "ssh", "openpgp"'],
  ['spec.storage.size', { storage: { size: '0Gi' } }, 'storage.size must be greater than 0'],
  ['spec.storage.size', { storage: { size: 'big' } }, 'should match'],
  ['spec.storage.size', { storage: { size: 0 } }, 'storage.size must be greater than 0'],
  ['spec.storage.accessMode', { storage: { accessMode: 'ReadOnlyMany' } }, 'supported values'],
  ['spec.webhook.port', { webhook: { port: 0 } }, 'greater than or equal to 1'],
  ['spec.webhook.port', { webhook: { port: 65_536 } }, 'less than or equal to 65535'],
  ['spec.polling.interval', { polling: { interval: '4s' } }, 'must be at least 5s'],
  ['spec.polling.interval', { polling: { interval: 'often' } }, 'should match'],
  ['spec.gateway', { gateway: undefined }, 'Required value'],
  ['spec.gateway.apiKeySecretRef', { gateway: {} }, 'Required value'],
  ['spec.gateway.apiKeySecretRef.name', { gateway: { apiKeySecretRef: { name: '', key: 'b' } } }, 'at least 1 chars'],
  ['spec.gateway.port', { gateway: { apiKeySecretRef: key, port: 0 } }, 'greater than or equal to 1'],
  ['spec.siteNumber', { siteNumber: 'a'.repeat(64) }, 'may not be more than 63'],
  [
    'spec.shared.externalResources.source',
    { shared: { externalResources: { enabled: true } } },
    'shared.externalResources.source is missing',
  ],
  ['spec.shared.scripts.source', { shared: { scripts: { enabled: true } } }, 'shared.scripts.source is missing'],
  ['spec.shared.udts.source', { shared: { udts: { enabled: true } } }, 'shared.udts.source is missing'],
  ['spec.shared.udts.source', { shared: { udts: { source: '../a' } } }, 'has a part that is empty'],
  ['spec.shared.scripts.destPath', { shared: { scripts: { destPath: '/a' } } }, 'is an absolute path'],
  ['spec.additionalFiles[0].dest', { additionalFiles: [{ source: 'a' }] }, 'Required value'],
  [
    'spec.additionalFiles[0].dest',
    { additionalFiles: [{ source: 'a', dest: 'a/../../b' }] },
    'has a part that is empty',
  ],
  ['spec.additionalFiles[0].source', { additionalFiles: [{ source: 'a\\b', dest: 'b' }] }, 'contains a backslash'],
  ['spec.additionalFiles[0].type', { additionalFiles: [{ source: 'a', dest: 'b', type: 'link' }] }, 'supported values'],
  [
    'spec.additionalFiles',
    { additionalFiles: Array.from({ length: 65 }, () => ({ source: 'a', dest: 'b' })) },
    'must have at most 64 items',
  ],
  ['spec.excludePatterns', { excludePatterns: Array.from({ length: 257 }, () => 'a') }, 'must have at most 256 items'],
  ['spec.excludePatterns[0]', { excludePatterns: ['a\\b'] }, 'must not contain control characters or backslashes'],
  [
    'spec.normalize.fields[0].jsonPath',
    { normalize: { fields: [{ jsonPath: 'a', valueTemplate: 'b' }] } },
    'must consist of .name and [number] parts',
  ],
  ['spec.prune', { prune: 'Some' }, 'supported values: "Managed", "All", "None"'],
  ['spec.drift', { drift: 'Ignore' }, 'supported values: "Report", "Restore"'],
  [
    'spec.bidirectional.watchPaths',
    { ...git({ auth: { token: { secretRef: key } } }), bidirectional: { enabled: true, watchPaths: [] } },
    'bidirectional.watchPaths is empty',
  ],
  [
    'spec.bidirectional.enabled',
    { ...git({ auth: {} }), bidirectional: { enabled: true, watchPaths: ['projects'] } },
    'bidirectional needs credentials',
  ],
  ['spec.bidirectional.conflictStrategy', { bidirectional: { conflictStrategy: 'newest' } }, 'supported values'],
  ['spec.bidirectional.forge', { bidirectional: { forge: 'bitbucket' } }, 'supported values'],
  ['spec.bidirectional.debounce', { bidirectional: { debounce: '0s' } }, 'must be at least 1s'],
  ['spec.bidirectional.targetBranch', { bidirectional: { targetBranch: '-x' } }, 'must not begin with a dash'],
  [
    'spec.bidirectional.guardrails.maxFilesPerPR',
    { bidirectional: { guardrails: { maxFilesPerPR: 0 } } },
    'greater than or equal to 1',
  ],
  ['spec.validation.webhook.url', { validation: { webhook: { url: 'http://a' } } }, 'must be an https:// URL'],
  [
    'spec.validation.webhook.timeout',
    { validation: { webhook: { url: 'https://a', timeout: '61s' } } },
    'must be at most 60s',
  ],
  ['spec.snapshots.retentionCount', { snapshots: { retentionCount: 0 } }, 'greater than or equal to 1'],
  ['spec.snapshots.retentionCount', { snapshots: { retentionCount: 51 } }, 'less than or equal to 50'],
  ['spec.snapshots.storage.type', { snapshots: { storage: { type: 'gcs' } } }, 'gcs is not supported; use s3'],
  ['spec.snapshots.storage.type', { snapshots: { storage: { type: 'azure' } } }, 'supported values'],
  ['spec.snapshots.storage.s3', { snapshots: { storage: { type: 's3' } } }, 'set its bucket and credentialsSecretRef'],
  ['spec.snapshots.storage.s3.bucket', s3({ bucket: undefined }), 'Required value'],
  ['spec.snapshots.storage.s3.bucket', s3({ bucket: 'A' }), 'must have at least 3 lower-case letters'],
  ['spec.snapshots.storage.s3.credentialsSecretRef', s3({ credentialsSecretRef: undefined }), 'Required value'],
  ['spec.snapshots.storage.s3.endpoint', s3({ endpoint: 'minio:9000' }), 'must be an https:// or http:// URL'],
  ['spec.rollback.toSnapshot', { rollback: {} }, 'Required value'],
  ['spec.rollback.toSnapshot', { rollback: { toSnapshot: '../a' } }, 'must be the name of a snapshot'],
  ['spec.deployment.strategy', { deployment: { strategy: 'random' } }, 'supported values: "all-at-once", "canary"'],
  ['spec.deployment.stages', { deployment: { stages: [stage] } }, 'set deployment.strategy to canary'],
  ['spec.deployment.stages[1]', { deployment: { strategy: 'canary', stages: [stage, stage] } }, 'Duplicate value'],
  ['spec.deployment.stages[0].name', canary({ name: 'rest' }), 'choose another name'],
  ['spec.deployment.stages[0]', canary({ gateways: undefined }), 'set gateways or gatewaySelector'],
  ['spec.deployment.stages[0].healthCheckUrl', canary({ healthCheckUrl: 'a' }), 'must be an https:// or http:// URL'],
  ['spec.deployment.maxParallel', { deployment: { maxParallel: 0 } }, 'greater than or equal to 1'],
  [
    'spec.deployment.autoRollback.triggers[0]',
    { deployment: { autoRollback: { triggers: ['x'] } } },
    'supported values',
  ],
  [
    'spec.deployment.autoRollback.enabled',
    { deployment: { autoRollback: { enabled: true } } },
    'set snapshots.enabled to true',
  ],
  ['spec.ignition.designerSessionPolicy', { ignition: { designerSessionPolicy: 'kill' } }, 'supported values'],
  ['spec.ignition.perspectiveSessionPolicy', { ignition: { perspectiveSessionPolicy: 'kill' } }, 'supported values'],
  ['spec.ignition.redundancyRole', { ignition: { redundancyRole: 'spare' } }, 'supported values'],
  ['spec.ignition.peerGatewayName', { ignition: { redundancyRole: 'backup' } }, 'ignition.peerGatewayName is missing'],
  ['spec.agent.image.pullPolicy', { agent: { image: { pullPolicy: 'Sometimes' } } }, 'supported values'],
  ['spec.agent.image.repository', { agent: { image: { tag: '1' } } }, 'agent.image.repository is missing'],
  ['spec.agent.image.digest', { agent: { image: { repository: 'a', digest: 'x' } } }, 'must be sha256:'],
  ['spec.agent.startPolicy', { agent: { startPolicy: 'Never' } }, 'supported values'],
  ['spec.agent.resources.limits.memory', { agent: { resources: { limits: { memory: 'big' } } } }, 'should match'],
];

const mapping = (changes: object): object => ({ mappings: [{ source: 'a', destination: 'b', ...changes }] });

/** INVALID_PROFILES are changes of the minimal SyncProfile that are refused. */
export const INVALID_PROFILES: readonly (readonly [field: string, changes: object, message: string])[] = [
  ['spec.mappings', { mappings: undefined }, 'Required value'],
  ['spec.mappings', { mappings: [] }, 'should have at least 1 items'],
  [
    'spec.mappings',
    { mappings: Array.from({ length: 65 }, () => ({ source: 'a', destination: 'b' })) },
    'must have at most 64 items',
  ],
  ['spec.mappings[0].source', mapping({ source: '/a' }), 'is an absolute path'],
  ['spec.mappings[0].destination', mapping({ destination: '../{{.GatewayName}}' }), 'has a part that is empty'],
  ['spec.mappings[0].type', mapping({ type: 'link' }), 'supported values: "dir", "file"'],
  ['spec.mappings[0].patches[0].set', mapping({ patches: [{ file: 'a', set: {} }] }), 'at least 1 properties'],
  [
    'spec.mappings[0].patches[0].set',
    mapping({ patches: [{ file: 'a', set: { 'a.b': 'c' } }] }),
    'every key of set must consist of .name and [number] parts',
  ],
  ['spec.mappings[0].patches[0].file', mapping({ patches: [{ file: 'a\\b', set: { '.a': 'c' } }] }), 'backslashes'],
  ['spec.vars', { vars: { '1a': 'b' } }, 'rename the variable'],
  ['spec.syncPeriod', { syncPeriod: 4 }, 'greater than or equal to 5'],
  ['spec.syncPeriod', { syncPeriod: 3601 }, 'less than or equal to 3600'],
  ['spec.designerSessionPolicy', { designerSessionPolicy: 'kill' }, 'supported values'],
  ['spec.deploymentMode.source', { deploymentMode: { name: 'dev' } }, 'Required value'],
  ['spec.dependsOn[1]', { dependsOn: [{ profileName: 'a' }, { profileName: 'a' }] }, 'Duplicate value'],
];
