import { describe, expect, it } from 'vitest';
import { VALID } from '../api/specs.test-support.ts';
import { ProtocolError } from './decode-json.ts';
import { desiredHash } from './desired-hash.ts';
import { gatewayKey } from './gateway-key.ts';
import { decodeReport, encodeReport, type GatewayReport, MAX_REPORT_BYTES } from './gateway-report.ts';
import { COMMIT_A, metadataOf } from './metadata.test-support.ts';
import { decodeMetadata, encodeMetadata, ProtocolMismatch, type Rollback, type SyncMetadata } from './metadata.ts';
import { snapshotOf } from './snapshot-of.ts';

const PLAN = { 'site-0': { name: 'site', key: 'site', commit: COMMIT_A, ref: 'main' } };
const planned = (changes: object = {}): SyncMetadata => metadataOf(changes, { plan: PLAN });

describe('metadata', () => {
  it.each(VALID)('is read as it was written: %s', (_, changes) => {
    const metadata = planned(changes);
    const data = encodeMetadata(metadata);
    expect(encodeMetadata(decodeMetadata(data))).toEqual(data);
  });

  it('of another version is refused with both versions', () => {
    const data = { ...encodeMetadata(planned()), schema: '2' };
    expect(() => decodeMetadata(data)).toThrow(ProtocolMismatch);
    expect(() => decodeMetadata(data)).toThrow('it is "2", and this agent reads "1"');
  });

  it.each([
    ['settings', '{"prune":"Everything"}'],
    ['settings', 'not json'],
    ['plan', '{"site-0":{"name":""}}'],
    ['profiles', '[]'],
    ['gatewayPort', '0x10'],
    ['gatewayPort', '70000'],
    ['authType', 'kerberos'],
    ['paused', 'yes'],
    ['rollback', '{}'],
  ])('with an invalid %s is refused by its name: %s', (field, value) => {
    const data = { ...encodeMetadata(planned()), [field]: value };
    expect(() => decodeMetadata(data)).toThrow(ProtocolError);
    expect(() => decodeMetadata(data)).toThrow(field);
  });

  it('without a key is refused by its name', () => {
    const { crUID: _, ...data } = encodeMetadata(planned());
    expect(() => decodeMetadata(data)).toThrow('crUID: the key is missing');
    expect(() => decodeMetadata(undefined)).toThrow('schema: the key is missing');
  });
});

describe('the hash of the desired state', () => {
  const hash = (metadata: SyncMetadata): string | undefined => desiredHash(metadata, 'site-0');
  const metadata = planned();

  it('changes with commit, settings, patterns, trigger and profile', () => {
    const { plan } = metadata;
    const site = plan['site-0'];
    if (!site) throw new Error('site-0 is missing');
    const profiled = { ...metadata, plan: { 'site-0': { ...site, profile: 'p' } } };
    const hashes = [
      metadata,
      { ...metadata, plan: { 'site-0': { ...site, commit: 'b'.repeat(40) } } },
      { ...metadata, settings: { ...metadata.settings, siteNumber: '7' } },
      { ...metadata, excludePatterns: ['x'] },
      { ...metadata, trigger: '2026-01-01T00:00:00Z' },
      profiled,
      { ...profiled, profiles: { p: { problem: 'unknown' } } },
    ].map(hash);
    expect(new Set(hashes).size).toBe(6);
    expect(hashes[5]).toBe(hashes[0]);
  });

  it('does not change with other gateways', () => {
    const plan = { ...metadata.plan, 'area-0': { name: 'area', key: 'area', commit: COMMIT_A } };
    expect(hash({ ...metadata, plan })).toBe(hash(metadata));
    expect(desiredHash(metadata, 'area-0')).toBeUndefined();
  });
});

describe('a report', () => {
  it('is read as it was written', () => {
    const report: GatewayReport = { syncStatus: 'Synced', syncedCommit: COMMIT_A, projectsSynced: ['overview'] };
    expect(decodeReport('site', encodeReport(report))).toMatchObject(report);
  });

  it('that is too large loses names and the end of its message, and keeps its state', () => {
    const encoded = encodeReport({
      syncStatus: 'Error',
      errorReason: 'UnsafePath',
      errorMessage: 'ä'.repeat(512),
      projectsSynced: Array.from({ length: 50 }, () => 'ü'.repeat(255)),
      drifted: { count: 9, paths: Array.from({ length: 5 }, () => 'ö'.repeat(255)) },
    });
    expect(Buffer.byteLength(encoded)).toBeLessThanOrEqual(MAX_REPORT_BYTES);
    expect(decodeReport('site', encoded)).toMatchObject({
      syncStatus: 'Error',
      errorReason: 'UnsafePath',
      drifted: { count: 9 },
    });
  });

  it.each(['', '[]', '{"syncStatus":"Done"}', '{"syncStatus":"Synced","filesChanged":-1}'])(
    'that is not valid is refused: %s',
    (value) => {
      expect(() => decodeReport('site', value)).toThrow(ProtocolError);
    },
  );
});

it('the key of a gateway has only characters that a ConfigMap accepts', () => {
  expect(['line-1', 'Werk Süd/1', '..', ''].map(gatewayKey)).toEqual(['line-1', 'Werk_S_d_1', '_.', '']);
});

it.each<[what: string, rollback: Rollback | undefined, snapshot: string | undefined]>([
  ['no rollback', undefined, undefined],
  ['its name', { toSnapshot: 'any', gateways: ['site'] }, 'any'],
  ['another name', { toSnapshot: 'site-20260101-000000', gateways: ['area'] }, undefined],
  ['its snapshot', { toSnapshot: 'site-20260101-000000' }, 'site-20260101-000000'],
  ['a second one within a second', { toSnapshot: 'site-20260101-000000-1', gateways: [] }, 'site-20260101-000000-1'],
  ['the snapshot of another gateway', { toSnapshot: 'site-2-20260101-000000' }, undefined],
])('a rollback by %s applies to the gateways that it is for', (_, rollback, snapshot) => {
  expect(snapshotOf(rollback, { name: 'site', key: 'site' })).toBe(snapshot);
});
