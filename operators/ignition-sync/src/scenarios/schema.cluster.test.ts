import { readFileSync } from 'node:fs';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import type { KubernetesObject, Resource } from '@bowline/kubernetes';
import { ApiError } from '@bowline/runtime/client';
import { installCustomResourceDefinitions, operatorIdentity } from '@bowline/runtime/install';
import type { WrittenOf } from '@bowline/runtime/resource';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { GROUP, OPERATOR, VERSION } from '../api/names.ts';
import { INVALID, INVALID_PROFILES, minimal, profile, VALID } from '../api/specs.test-support.ts';
import { SyncProfile } from '../api/sync-profile.ts';

let c: Cluster;
beforeAll(async () => {
  c = await cluster({ prefix: 'ignition-schema' });
  const { fieldManagers } = operatorIdentity(OPERATOR);
  await installCustomResourceDefinitions(c.admin, [IgnitionSync, SyncProfile], { fieldManager: fieldManagers.crds });
});
afterAll(() => c[Symbol.asyncDispose]());

/** Nothing is stored, so that cases do not depend on each other. */
const tryCreate = <T extends KubernetesObject>(kind: Resource<T>, spec: object, name = 'dry-run'): Promise<T> =>
  c.admin.create(kind, { metadata: { namespace: c.namespace, name }, spec } as never, { dryRun: true });

/** problemsOf returns the fields that the API server refuses, and all messages. */
async function problemsOf(request: Promise<unknown>): Promise<{ fields: readonly string[]; message: string }> {
  const error: unknown = await request.then(
    () => new Error('the API server accepted the request'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError) || error.status !== 422) throw error;
  return { fields: error.causes.map(({ field = '' }) => field), message: error.message };
}

it('scenario 01 fills in all defaults of the minimal IgnitionSync', async () => {
  const text = readFileSync(new URL('./fixtures/minimal.yaml', import.meta.url), 'utf8');
  const written = parse(text) as WrittenOf<typeof IgnitionSync>;
  const { spec } = await c.admin.create(IgnitionSync, {
    ...written,
    metadata: { ...written.metadata, namespace: c.namespace },
  });
  expect(spec).toEqual({
    git: { repo: 'git@github.com:example/plant.git', ref: 'v2.0.1', submodules: false, lfs: false },
    webhook: { enabled: true, port: 8443 },
    polling: { enabled: true, interval: '60s' },
    gateway: { port: 8043, tls: true, apiKeySecretRef: { name: 'ignition-api-key', key: 'apiKey' } },
    excludePatterns: ['**/.git/', '**/.gitkeep', '**/.resources/**'],
    prune: 'Managed',
    drift: 'Report',
    paused: false,
    ignition: {
      designerSessionPolicy: 'wait',
      designerSessionTimeout: '5m',
      perspectiveSessionPolicy: 'none',
      perspectiveSessionTimeout: '1m',
      redundancyRole: '',
    },
  });
});

it('scenario 01 fills in the defaults of a SyncProfile', async () => {
  expect((await tryCreate(SyncProfile, profile())).spec).toEqual({
    mappings: [{ source: 'services/site', destination: 'projects', required: false, template: false }],
    syncPeriod: 30,
    dryRun: false,
    paused: false,
  });
});

it.each(VALID)('scenario 01 accepts an IgnitionSync with %s', async (_, changes) => {
  expect((await tryCreate(IgnitionSync, minimal(changes))).spec.git.ref).toBe('main');
});

it.each(INVALID)('scenario 01 refuses %s of an IgnitionSync (%#)', async (field, changes, message) => {
  const problems = await problemsOf(tryCreate(IgnitionSync, minimal(changes)));
  expect(problems.fields).toContain(field);
  expect(problems.message).toContain(message);
});

it.each(INVALID_PROFILES)('scenario 01 refuses %s of a SyncProfile (%#)', async (field, changes, message) => {
  const problems = await problemsOf(tryCreate(SyncProfile, profile(changes)));
  expect(problems.fields).toContain(field);
  expect(problems.message).toContain(message);
});

it('scenario 01 refuses a name from which no other names can be derived', async () => {
  const { message } = await problemsOf(tryCreate(IgnitionSync, minimal(), 'a'.repeat(221)));
  expect(message).toContain('metadata.name must have at most 220 characters');
  expect((await tryCreate(IgnitionSync, minimal(), 'a'.repeat(220))).metadata?.name).toHaveLength(220);
});

it('scenario 01 has short names, a category and columns', async () => {
  const { resources } = JSON.parse(await c.admin.raw(`/apis/${GROUP}/${VERSION}`)) as {
    resources: readonly { name: string; shortNames?: readonly string[]; categories?: readonly string[] }[];
  };
  const byName = new Map(resources.map((each) => [each.name, each]));
  expect(byName.get('ignitionsyncs')).toMatchObject({ shortNames: ['isync', 'igs'], categories: ['bowline'] });
  expect(byName.get('syncprofiles')).toMatchObject({ shortNames: ['sp'], categories: ['bowline'] });

  const { namespace } = c;
  const name = c.uniqueName('columns');
  await c.admin.create(IgnitionSync, { metadata: { namespace, name }, spec: minimal() });
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'SyncSucceeded', message: 'synced', lastTransitionTime },
    {
      type: 'AllGatewaysSynced',
      status: 'True',
      reason: 'SyncSucceeded',
      message: '2/2 gateways synced',
      lastTransitionTime,
    },
  ];
  const status = { lastSyncRef: 'v1', lastSyncCommit: '1a2b3c', conditions };
  await c.admin.patch(
    IgnitionSync,
    { namespace, name },
    { type: 'merge', body: { status } },
    { subresource: 'status' },
  );
  const table = JSON.parse(
    await c.admin.raw(`/apis/${GROUP}/${VERSION}/namespaces/${namespace}/ignitionsyncs/${name}`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    }),
  ) as {
    columnDefinitions: readonly { name: string; priority: number }[];
    rows: readonly { cells: readonly unknown[] }[];
  };
  const cells = table.rows[0]?.cells ?? [];
  const columns = table.columnDefinitions.map(({ name: column, priority }, index) => [column, priority, cells[index]]);
  expect(columns).toEqual([
    ['Name', 0, name],
    ['Ref', 0, 'v1'],
    ['Synced', 0, 'True'],
    ['Gateways', 0, '2/2 gateways synced'],
    ['Ready', 0, 'True'],
    ['Commit', 1, '1a2b3c'],
    ['Wanted', 1, 'main'],
    ['Reason', 1, 'SyncSucceeded'],
    ['Age', 0, expect.any(String)],
  ]);
});
