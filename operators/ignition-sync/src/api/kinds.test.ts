import type { FieldProblem } from '@bowline/machinery';
import type { StructuralSchema } from '@bowline/machinery/schema';
import { describe, expect, it } from 'vitest';
import { type DiscoveredGateway, IgnitionSync } from './ignition-sync.ts';
import { secretNames } from './secret-names.ts';
import {
  INVALID,
  INVALID_PROFILES,
  minimal,
  type ProfileSpec,
  profile,
  type Spec,
  VALID,
} from './specs.test-support.ts';
import { SyncProfile } from './sync-profile.ts';

const syncOf = (spec: Spec, name = 'plant') =>
  IgnitionSync.withDefaults({ metadata: { name, namespace: 'default' }, spec });
const profileOf = (spec: ProfileSpec) =>
  SyncProfile.withDefaults({ metadata: { name: 'site', namespace: 'default' }, spec });

/** The API server does not check rules, and reports that, if a part of the object is structurally invalid. */
const RULES_NOT_CHECKED = '<nil>';

/** Expects problems of a single field, and the message of the first. */
function expectProblem(problems: readonly FieldProblem[], field: string, message: string): void {
  const fields = new Set(problems.map((problem) => problem.field));
  fields.delete(RULES_NOT_CHECKED);
  expect([...fields]).toEqual([field]);
  expect(problems[0]?.message).toContain(message);
}

describe('an IgnitionSync', () => {
  it.each(VALID)('with %s is valid', (_, changes) => {
    const sync = syncOf(minimal(changes));
    expect(IgnitionSync.validate(sync)).toEqual([]);
    expect(IgnitionSync.unknownFields(sync)).toEqual([]);
  });

  it.each(INVALID)('is refused for %s (%#)', (field, changes, message) => {
    expectProblem(IgnitionSync.validate(syncOf(minimal(changes))), field, message);
  });

  it('has defaults in the parts that are set', () => {
    const { spec } = syncOf(
      minimal({
        storage: {},
        shared: { externalResources: {}, scripts: {}, udts: {} },
        normalize: {},
        additionalFiles: [{ source: 'a', dest: 'b' }],
        bidirectional: {},
        validation: { webhook: { url: 'https://a' } },
        snapshots: {},
        deployment: { strategy: 'canary', stages: [{ name: 'a', gateways: ['b'] }] },
        agent: { image: {} },
      }),
    );
    expect(spec).toMatchObject({
      storage: { storageClassName: '', size: '1Gi', accessMode: 'ReadWriteMany' },
      shared: {
        externalResources: { enabled: false, createFallback: false },
        scripts: { enabled: false },
        udts: { enabled: false },
      },
      normalize: { systemName: false },
      additionalFiles: [{ type: 'file' }],
      bidirectional: {
        enabled: false,
        targetBranch: 'gateway-changes/{{.Namespace}}/{{.GatewayName}}',
        debounce: '30s',
        createPR: false,
        conflictStrategy: 'gitWins',
        guardrails: { maxFileSize: '10Mi', maxFilesPerPR: 100 },
      },
      validation: { dryRunBefore: false, webhook: { timeout: '10s' } },
      snapshots: { enabled: false, retentionCount: 5, storage: { type: 'pvc' } },
      deployment: {
        maxParallel: 25,
        stages: [{ postSyncWait: '30s', requireApproval: false }],
        autoRollback: { enabled: false, triggers: ['scanFailure'] },
      },
      agent: {
        image: { pullPolicy: 'IfNotPresent' },
        resources: { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '256Mi' } },
        startPolicy: 'StartWithLast',
      },
    });
    expect(syncOf(minimal({ deployment: {} })).spec.deployment?.strategy).toBe('all-at-once');
  });

  it('has no defaults for experimental parts, storage and agent', () => {
    const { spec } = syncOf(minimal());
    expect(Object.keys(spec).sort()).toEqual(
      ['drift', 'excludePatterns', 'gateway', 'git', 'ignition', 'paused', 'polling', 'prune', 'webhook'].sort(),
    );
  });

  it('has a name from which the names of other objects can be derived', () => {
    expect(IgnitionSync.validate(syncOf(minimal(), 'a'.repeat(220)))).toEqual([]);
    expect(IgnitionSync.validate(syncOf(minimal(), 'a'.repeat(221)))).toMatchObject([
      { message: expect.stringContaining('metadata.name must have at most 220 characters') as string },
    ]);
  });
});

describe('the status of an IgnitionSync', () => {
  const timestamp = '2026-01-01T00:00:00Z';
  const gateway: DiscoveredGateway = {
    name: 'site',
    namespace: 'default',
    podName: 'site-0',
    servicePath: 'services/site',
    syncStatus: 'Synced',
    lastSyncTime: timestamp,
    lastSyncDuration: '2.5s',
    syncedCommit: '1a2b3c',
    syncedRef: 'main',
    agentVersion: '0.1.0',
    agentReady: true,
    lastScanResult: 'projects=200 config=200',
    filesChanged: 2,
    projectsSynced: ['overview'],
    driftedFiles: 0,
    message: 'synced',
    lastSnapshot: { id: 'site-20260101-000000.tar.gz', size: '1Mi', timestamp },
    syncHistory: [{ timestamp, commit: '1a2b3c', result: 'Synced', duration: '2.5s' }],
  };
  const withGateways = (discoveredGateways: readonly DiscoveredGateway[]) => ({
    ...syncOf(minimal()),
    status: { repoCloneStatus: 'Cloned', currentStage: 'first', pinnedHostKeys: ['SHA256:a'], discoveredGateways },
  });

  it('has up to 400 gateways, each once', () => {
    const all = Array.from({ length: 400 }, (_, index) => ({ ...gateway, podName: `site-${index}` }));
    expect(IgnitionSync.validate(withGateways(all))).toEqual([]);
    expect(IgnitionSync.unknownFields(withGateways([gateway]))).toEqual([]);
    const tooMany = [...all, { ...gateway, podName: 'site-400' }];
    expectProblem(IgnitionSync.validate(withGateways(tooMany)), 'status.discoveredGateways', 'at most 400 items');
    const twice = IgnitionSync.validate(withGateways([gateway, gateway]));
    expectProblem(twice, 'status.discoveredGateways[1]', 'Duplicate value');
  });
});

describe('a SyncProfile', () => {
  it('has defaults', () => {
    const site = profileOf(profile());
    expect(SyncProfile.validate(site)).toEqual([]);
    expect(site.spec).toEqual({
      mappings: [{ source: 'services/site', destination: 'projects', required: false, template: false }],
      syncPeriod: 30,
      dryRun: false,
      paused: false,
    });
  });

  it('may have patches, variables, a deployment mode and dependencies', () => {
    const site = profileOf(
      profile({
        mappings: [
          {
            source: 'sites/{{.SiteNumber}}',
            destination: 'config/resources/core',
            type: 'dir',
            required: true,
            patches: [{ file: '**/config.json', set: { '.servers[0].host': '{{.Vars.host}}' } }],
          },
        ],
        excludePatterns: ['**/*.bak'],
        vars: { host: 'db', _a1: '' },
        designerSessionPolicy: 'fail',
        deploymentMode: { name: 'dev', source: 'modes/dev' },
        dependsOn: [{ profileName: 'base' }],
      }),
    );
    expect(SyncProfile.validate(site)).toEqual([]);
    expect(SyncProfile.unknownFields(site)).toEqual([]);
  });

  it.each(INVALID_PROFILES)('is refused for %s (%#)', (field, changes, message) => {
    expectProblem(SyncProfile.validate(profileOf(profile(changes))), field, message);
  });
});

describe('secretNames', () => {
  /** Returns the paths of all references to Secrets in a schema. */
  function referencesIn(schema: StructuralSchema | undefined, path: readonly string[] = []): readonly string[][] {
    const here = path.at(-1)?.match(/secretref$/i) ? [[...path]] : [];
    const fields = Object.entries(schema?.properties ?? {}).flatMap(([name, field]) =>
      referencesIn(field, [...path, name]),
    );
    const items = schema?.items ? referencesIn(schema.items, [...path, '[]']) : [];
    return [...here, ...fields, ...items];
  }

  it('returns every Secret that a spec can name', () => {
    const paths = referencesIn(IgnitionSync.schema.properties?.spec);
    expect(paths).toHaveLength(9);
    for (const path of paths) {
      const reference = path.reduceRight<object>((value, name) => ({ [name]: value }), { name: 'named', key: 'k' });
      expect([path.join('.'), secretNames(syncOf(mergedSpec(minimal(), reference)).spec)]).toEqual([
        path.join('.'),
        path.join('.') === 'gateway.apiKeySecretRef' ? ['named'] : ['a', 'named'],
      ]);
    }
  });

  it('returns each name once', () => {
    const token = { secretRef: { name: 'a', key: 'other' } };
    expect(secretNames(syncOf(mergedSpec(minimal(), { git: { auth: { token } } })).spec)).toEqual(['a']);
  });
});

function mergedSpec(spec: Spec, changes: object): Spec {
  return merged(spec, changes as Record<string, unknown>) as unknown as Spec;
}

function merged(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  const result = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const before = one[key];
    result[key] = isObject(before) && isObject(value) ? merged(before, value) : value;
  }
  return result;
}
