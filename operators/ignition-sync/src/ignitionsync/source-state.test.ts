import { describe, expect, it } from 'vitest';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { minimal } from '../api/specs.test-support.ts';
import { isPublished, unchanged, unverified, waiting } from './source-state.ts';

interface Stored {
  readonly [type: string]: readonly [status: 'True' | 'False', reason: string, message: string, generation?: number];
}

/** sync returns an IgnitionSync of generation 2 with a status. */
function sync(conditions: Stored, fields: Partial<IgnitionSync['status']> = {}, changes: object = {}): IgnitionSync {
  const list = Object.entries(conditions).map(([type, [status, reason, message, observedGeneration = 2]]) => ({
    ...{ type, status, reason, message, observedGeneration },
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  const { spec } = IgnitionSync.withDefaults({ metadata: { name: 'a' }, spec: minimal(changes) });
  return { metadata: { name: 'a', generation: 2 }, spec, status: { ...fields, conditions: list } };
}

const at = { lastSyncCommit: 'c1', lastSyncRef: 'main' };
const cloned = ['True', 'CloneSucceeded', 'main is at c1'] as const;

describe('waiting', () => {
  it('reports a repository that was never read', () => {
    expect(waiting(sync({}), 'main')).toMatchObject({
      problem: 'Repository not cloned: resolving main',
      conditions: [{ type: 'RepoCloned', status: false, reason: 'Reconciling' }],
      fields: { repoCloneStatus: 'Cloning' },
    });
  });

  it('changes nothing while the ref is polled', () => {
    expect(waiting(sync({ RepoCloned: cloned }, at), 'main')).toEqual({
      problem: undefined,
      conditions: [],
      fields: {},
    });
  });

  it.each([
    ['a failed clone', { RepoCloned: ['False', 'CloneFailed', 'Timeout: x'] }, 'Repository not cloned: Timeout: x'],
    ['a failed verification', { RepoCloned: cloned, SourceVerified: ['False', 'VerificationFailed', 'bad'] }, 'bad'],
  ] as const)('keeps the problem of %s while it is retried', (_, conditions, problem) => {
    expect(waiting(sync(conditions, at), 'main')).toEqual({ problem, conditions: [], fields: {} });
  });

  it.each([
    ['a changed ref', sync({ RepoCloned: cloned }, at), 'v2'],
    ['a changed spec', sync({ RepoCloned: ['True', 'CloneSucceeded', 'main is at c1', 1] }, at), 'main'],
  ])('is not ready for %s, and keeps the last commit', (_, object, ref) => {
    const state = { ...unchanged(object), ...waiting(object, ref) };
    expect(state).toMatchObject({
      problem: `resolving ${ref}`,
      target: { ref: 'main', commit: 'c1' },
      isCurrent: false,
    });
  });
});

describe('unverified', () => {
  it('keeps the last commit', () => {
    const state = unverified(unchanged(sync({ RepoCloned: cloned }, at)), 'not signed');
    expect(state.conditions).toMatchObject([
      { type: 'RepoCloned', status: true, message: 'main is at c1' },
      { type: 'SourceVerified', status: false },
    ]);
  });

  it('reports a repository without any verified commit', () => {
    expect(unverified(unchanged(sync({})), 'not signed').conditions).toMatchObject([
      { type: 'RepoCloned', status: false, reason: 'VerificationFailed' },
      { type: 'SourceVerified', status: false },
    ]);
  });
});

describe('isPublished', () => {
  const verify = { git: { ...minimal().git, verify: { format: 'ssh', secretRef: { name: 'a', key: 'b' } } } };

  it.each([
    ['the same commit and spec', sync({ RepoCloned: cloned }, at), 'c1', true],
    ['another commit', sync({ RepoCloned: cloned }, at), 'c2', false],
    ['another spec', sync({ RepoCloned: ['True', 'CloneSucceeded', '', 1] }, at), 'c1', false],
    ['a repository that failed meanwhile', sync({ RepoCloned: ['False', 'CloneFailed', ''] }, at), 'c1', false],
    ['a commit that was not verified', sync({ RepoCloned: cloned }, at, verify), 'c1', false],
    [
      'a verified commit',
      sync({ RepoCloned: cloned, SourceVerified: ['True', 'Verified', ''] }, at, verify),
      'c1',
      true,
    ],
  ])('for %s', (_, object, commit, expected) => {
    expect(isPublished(object, commit)).toBe(expected);
  });
});
