import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../api/names.ts';
import type { ZeroTrustWorkloadIdentityManager } from '../api/zero-trust-workload-identity-manager.ts';
import type { SharedObjects } from '../operand/shared-objects.ts';
import { objectsWith, operandWith, parentWith } from '../webhooks/shared-objects.test-support.ts';
import { backupData, readBackup } from './backup.ts';
import { type Decision, decide } from './decide.ts';
import { type MigrationRecord, readRecord, writeRecord } from './migration-record.ts';
import { planMigration } from './plan-migration.ts';
import { planRollback } from './plan-rollback.ts';

const OWN = { trustDomain: 'a.io', clusterName: 'one' };
const RECORD: MigrationRecord = { backup: 'b', fields: ['trustDomain', 'clusterName'], isRolledBack: false };

const legacy = () =>
  objectsWith(parentWith({}), { SpireServer: operandWith('SpireServer', OWN), SpireAgent: operandWith('SpireAgent') });

const annotated = (
  control: string | undefined,
  record?: MigrationRecord,
  spec = {},
): ZeroTrustWorkloadIdentityManager => {
  const parent = parentWith(spec);
  const annotations = {
    ...(control === undefined ? {} : { [ANNOTATIONS.migration]: control }),
    ...(record ? { [ANNOTATIONS.migrated]: writeRecord(record) } : {}),
  };
  return { ...parent, metadata: { ...parent.metadata, annotations } };
};

describe('planMigration', () => {
  it('moves the values that only operands have, and lists every write', () => {
    expect(planMigration(legacy())).toMatchObject({ isNeeded: true, conflicts: [], values: OWN });
    expect(planMigration(legacy()).writes.map(({ write }) => write)).toEqual([
      'set ZeroTrustWorkloadIdentityManager.spec.trustDomain',
      'mark SpireServer.spec.trustDomain as inherited',
      'set SpireAgent.spec.trustDomain',
      'set ZeroTrustWorkloadIdentityManager.spec.clusterName',
      'mark SpireServer.spec.clusterName as inherited',
      'set SpireAgent.spec.clusterName',
    ]);
  });

  it('needs nothing if the central object has the values, nor for an issuer, which operands may have', () => {
    const SpireServer = operandWith('SpireServer', { ...OWN, jwtIssuer: 'https://a.io' });
    expect(planMigration(objectsWith(parentWith(OWN), { SpireServer }))).toMatchObject({ isNeeded: false, writes: [] });
  });

  it('moves nothing if any values contradict each other', () => {
    const SpireServer = operandWith('SpireServer', { ...OWN, jwtIssuer: 'https://a.io' });
    const SpireOIDCDiscoveryProvider = operandWith('SpireOIDCDiscoveryProvider', { jwtIssuer: 'https://b.io' });
    const plan = planMigration(objectsWith(parentWith({}), { SpireServer, SpireOIDCDiscoveryProvider }));
    expect(plan).toMatchObject({ isNeeded: true, values: {}, writes: [], conflicts: [{ field: 'jwtIssuer' }] });
  });

  it('plans for a missing central object as for an empty one', () => {
    expect(planMigration({ ...legacy(), parent: undefined })).toEqual(planMigration(legacy()));
  });
});

describe('decide', () => {
  const done = { ...RECORD, isRolledBack: true };
  it.each<[string, ZeroTrustWorkloadIdentityManager, Decision]>([
    ['migrates automatically', annotated(undefined), 'apply'],
    ['only plans', annotated('plan'), 'plan'],
    ['does nothing if disabled', annotated('disabled'), 'disabled'],
    ['reports an unknown value', annotated('yes'), 'invalid'],
    ['rolls back what was migrated', annotated('rollback', RECORD, OWN), 'roll-back'],
    ['ends a rollback of nothing', annotated('rollback'), 'rolled-back'],
    ['does not migrate again after a rollback', annotated(undefined, done), 'rolled-back'],
    ['does not even plan after a rollback', annotated('plan', done), 'rolled-back'],
    ['migrates again when asked to', annotated('run', done), 'apply'],
    ['finishes what was migrated', annotated(undefined, RECORD, OWN), 'finish'],
    ['needs nothing', annotated('run', undefined, OWN), 'nothing'],
  ])('%s', (_, parent, decision) => {
    const objects = { ...legacy(), parent };
    expect(decide(objects, planMigration(objects))).toBe(decision);
  });
});

describe('a record', () => {
  it('is read as it was written, and absent if it is damaged', () => {
    expect(readRecord(annotated(undefined, RECORD))).toEqual(RECORD);
    const metadata = { annotations: { [ANNOTATIONS.migrated]: '{"backup":1}' } };
    expect(readRecord({ metadata })).toBeUndefined();
  });
});

describe('a backup', () => {
  it('has the specs, without a connection string that may contain a password', () => {
    const datastore = { databaseType: 'postgres', connectionString: 'postgres://u:secret@db/x' };
    const data = backupData(
      withUids(objectsWith(parentWith({}), { SpireServer: operandWith('SpireServer', { datastore }) })),
    );
    expect(data.SpireServer).toContain('"databaseType": "postgres"');
    expect(JSON.stringify(data)).not.toContain('secret');
    expect(Object.keys(data)).toEqual(['ZeroTrustWorkloadIdentityManager', 'SpireServer']);
    expect(readBackup({ data }).SpireServer?.uid).toBe('SpireServer');
  });

  it('is refused, without its text, if it is not one', () => {
    expect(() => readBackup({ metadata: { name: 'b' }, data: { SpireAgent: 'secret' } })).toThrow(
      /key SpireAgent of the ConfigMap b is not a backup/,
    );
  });
});

function withUids(objects: SharedObjects): SharedObjects {
  const withUid = <T extends { readonly metadata?: object | undefined }>(object: T | undefined, uid: string) =>
    object && { ...object, metadata: { ...object.metadata, uid } };
  const operands = Object.fromEntries(
    Object.entries(objects.operands).map(([kind, operand]) => [kind, withUid(operand, kind)]),
  );
  return { parent: withUid(objects.parent, 'parent'), operands } as SharedObjects;
}

describe('planRollback', () => {
  const backup = readBackup({ data: backupData(withUids(legacy())) });
  const migrated = (spec: object = OWN, logLevel = 'debug') => {
    const objects = withUids(
      objectsWith(parentWith({ ...OWN }), {
        SpireServer: operandWith('SpireServer', { ...spec, logLevel }, OWN),
        SpireAgent: operandWith('SpireAgent', spec as Record<string, unknown>, OWN),
      }),
    );
    if (!objects.parent) throw new Error('the parent is missing');
    return { ...objects, parent: objects.parent };
  };

  it('restores what the migration has changed, and keeps other edits', () => {
    const { operands, parent, refusal, undone } = planRollback(migrated(), backup, RECORD);
    expect({ refusal, undone }).toEqual({ refusal: undefined, undone: ['trustDomain', 'clusterName'] });
    expect(parent).toMatchObject({ isDone: false });
    expect(parent.object.spec.trustDomain).toBeUndefined();
    expect(operands.SpireServer?.object.spec).toMatchObject({ ...OWN, logLevel: 'debug' });
    expect(operands.SpireServer?.object.metadata?.annotations?.[ANNOTATIONS.inherited]).toBeUndefined();
    expect(operands.SpireAgent?.object.spec).toMatchObject({ trustDomain: undefined, clusterName: undefined });
  });

  it('leaves objects alone that were created again', () => {
    const objects = migrated();
    const SpireAgent = operandWith('SpireAgent', OWN, OWN);
    const { operands, skipped } = planRollback(
      { ...objects, operands: { ...objects.operands, SpireAgent } },
      backup,
      RECORD,
    );
    expect(operands.SpireAgent).toBeUndefined();
    expect(skipped).toEqual(['SpireAgent']);
  });

  it('refuses to change values in use', () => {
    const objects = migrated();
    const { parent } = objects;
    const changed = { ...objects, parent: { ...parent, spec: { ...parent.spec, clusterName: 'two' } } };
    expect(planRollback(changed, backup, RECORD).refusal).toContain('clusterName would change from "two" to "one"');
  });
});
