import { describe, expect, it } from 'vitest';
import type { CopyResult, Obstacle } from '../copies/copy-result.ts';
import { type SyncFacts, statusOf } from './status.ts';

const at = '2026-01-01T00:00:00Z';
const source = { hash: 'h', resourceVersion: '5' };
const copy = (name: string, change: Partial<CopyResult> = {}): CopyResult => ({
  target: { namespace: 'team-b', name, selected: false },
  outcome: 'unchanged',
  exists: true,
  hash: 'h',
  syncedAt: at,
  ...change,
});
const stopped = (state: Obstacle['state'], reason: string, isRetried = false): Partial<CopyResult> => ({
  obstacle: { state, reason, message: `because of ${reason}`, isRetried },
});
const report = (results: CopyResult[], more: Partial<SyncFacts> = {}, status = {}) =>
  statusOf({ status }, { source, results, attempt: 3, ...more });
const reasonOf = (of: ReturnType<typeof report>, type: string) => {
  const found = of.conditions.find((condition) => condition.type === type);
  return found && `${String(found.status)} ${found.reason}`;
};

describe('statusOf', () => {
  it('reports that all copies are in sync', () => {
    const result = report([copy('a'), copy('b', { syncedAt: '2026-03-01T00:00:00Z' })]);
    expect(result.fields).toMatchObject({
      syncStatus: 'Success',
      sourceExists: true,
      sourceHash: 'h',
      sourceResourceVersion: '5',
      destinationExists: true,
      syncedCount: 2,
      totalCount: 2,
      retryCount: 0,
      lastSyncTime: '2026-03-01T00:00:00Z',
    });
    expect(result.fields.destinations?.[0]).toEqual({
      namespace: 'team-b',
      name: 'a',
      status: 'Synced',
      hash: 'h',
      lastSyncTime: at,
    });
    expect(['Ready', 'Synced', 'Conflict', 'Stalled'].map((type) => reasonOf(result, type))).toEqual([
      'true AllComponentsReady',
      'true SyncSucceeded',
      'false None',
      undefined,
    ]);
    expect(result.retry).toBeUndefined();
  });

  it.each([
    ['a missing namespace', stopped('Pending', 'NamespaceMissing'), 'false NamespaceMissing', 'InProgress', undefined],
    [
      'a conflict',
      stopped('Conflict', 'DestinationModified'),
      'false DestinationModified',
      'Failed',
      'true DestinationModified',
    ],
    [
      'another owner',
      stopped('Failed', 'DestinationOwnedByAnother'),
      'false DestinationOwnedByAnother',
      'Failed',
      'true DestinationOwnedByAnother',
    ],
    ['a refused write', stopped('Failed', 'Forbidden', true), 'false SyncFailed', 'Failed', undefined],
    ['too much content', stopped('Failed', 'TooLarge'), 'false SyncFailed', 'Failed', 'true SyncFailed'],
  ])('reports %s, even if other copies are in sync', (_, obstacle, ready, syncStatus, stalled) => {
    const result = report([copy('a'), copy('b', obstacle)]);
    expect([reasonOf(result, 'Ready'), result.fields.syncStatus, reasonOf(result, 'Stalled')]).toEqual([
      ready,
      syncStatus,
      stalled,
    ]);
    expect(reasonOf(result, 'Synced')).toBe('false PartiallySynced');
    expect(result.fields.message).toContain('team-b/b: because of');
  });

  it('counts consecutive failures only while it retries', () => {
    expect(report([copy('a', stopped('Failed', 'Forbidden', true))])).toMatchObject({
      fields: { retryCount: 3 },
      retry: expect.stringContaining('because of Forbidden') as string,
    });
    expect(report([copy('a', stopped('Failed', 'DestinationExists'))])).toMatchObject({ fields: { retryCount: 0 } });
  });

  it('lists at most 100 copies, those that need attention first, and counts all', () => {
    const many = Array.from({ length: 150 }, (_, index) => copy(`c${index}`));
    const result = report([...many, copy('bad', stopped('Failed', 'Forbidden'))]);
    expect(result.fields.destinations).toHaveLength(100);
    expect(result.fields.destinations?.[0]).toMatchObject({ name: 'bad', status: 'Failed', reason: 'Forbidden' });
    expect(result.fields).toMatchObject({ syncedCount: 150, totalCount: 151 });
  });

  it('updates the resourceVersion of the source only with its content, and reports the latest sync time', () => {
    const before = { sourceHash: 'h', sourceResourceVersion: '3', lastSyncTime: '2027-01-01T00:00:00Z' };
    expect(report([copy('a')], {}, before).fields).toMatchObject(before);
    expect(report([copy('a')], {}, { ...before, sourceHash: 'x' }).fields.sourceResourceVersion).toBe('5');
  });

  it('is ready when a selector selects nothing', () => {
    expect(reasonOf(report([]), 'Ready')).toBe('true AllComponentsReady');
  });

  it('is not ready without a source, even if nothing is selected', () => {
    expect(reasonOf(report([], { source: undefined }), 'Ready')).toBe('false SourceNotFound');
  });

  it('retries when copies could not be released', () => {
    const result = report([copy('a')], { leftovers: { count: 2, message: 'x/y: forbidden' } });
    expect(result.retry).toBe('failed to remove 2 obsolete copies, will retry; x/y: forbidden');
    expect(reasonOf(result, 'Ready')).toBe('false SyncFailed');
  });
});
