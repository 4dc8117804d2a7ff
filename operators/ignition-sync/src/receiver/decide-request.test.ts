import { describe, expect, it } from 'vitest';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { type Decision, decideRequest } from './decide-request.ts';
import type { PushPayload, RefPayload } from './payload.ts';
import { COMMIT, sync } from './receiver.test-support.ts';

const NOW = Date.UTC(2026, 4, 1, 12);
const AT = { [CR_ANNOTATIONS.requestedAt]: '2026-05-01T12:00:00Z' };
const tag: RefPayload = { kind: 'ref', source: 'gitlab', ref: 'v2', isBranch: false };
const branch: RefPayload = { ...tag, source: 'generic', isBranch: true };
const push: PushPayload = { kind: 'push', source: 'github', heads: [{ branch: 'main', commit: COMMIT }] };
const requestRef: Decision = {
  outcome: 'request',
  ref: 'v2',
  annotations: { [CR_ANNOTATIONS.requestedRef]: 'v2', ...AT, [CR_ANNOTATIONS.requestedBy]: 'gitlab' },
};
const requestCommit: Decision = {
  outcome: 'request',
  ref: 'main',
  annotations: { [CR_ANNOTATIONS.requestedCommit]: COMMIT, ...AT },
};
const ignored: Decision = { outcome: 'ignored', message: 'the pushed branch is not the one that is synced' };

const decide = (
  payload: RefPayload | PushPayload,
  ref: string,
  annotations: Readonly<Record<string, string>> = {},
): Decision => {
  const target = sync({ ref });
  return decideRequest(payload, { ...target, metadata: { ...target.metadata, annotations } }, NOW);
};

describe('a requested ref', () => {
  it.each<[string, Decision]>([
    ['main', requestRef],
    ['v1', requestRef],
    ['refs/heads/v2', requestRef],
    ['v2', { outcome: 'unchanged', ref: 'v2' }],
    ['refs/tags/v2', { outcome: 'unchanged', ref: 'v2' }],
  ])('is compared with %s in the spec', (ref, expected) => {
    expect(decide(tag, ref)).toEqual(expected);
  });

  it('is compared with the ref that was requested before, not with the spec', () => {
    expect(decide(tag, 'main', { [CR_ANNOTATIONS.requestedRef]: 'v2' })).toEqual({ outcome: 'unchanged', ref: 'v2' });
    expect(decide(tag, 'v2', { [CR_ANNOTATIONS.requestedRef]: 'v3' })).toEqual(requestRef);
    expect(decide(tag, 'v2', { [CR_ANNOTATIONS.requestedRef]: '' }).outcome).toBe('unchanged');
  });

  it('may be a branch', () => {
    expect(decide(branch, 'refs/heads/v2').outcome).toBe('unchanged');
    expect(decide(branch, 'refs/tags/v2').outcome).toBe('request');
  });
});

describe('a push', () => {
  it.each<[string, Decision]>([
    ['main', requestCommit],
    ['refs/heads/main', requestCommit],
    ['refs/tags/main', ignored],
    ['develop', ignored],
  ])('requests its commit if %s is its branch, and never the ref', (ref, expected) => {
    expect(decide(push, ref)).toEqual(expected);
  });

  it('requests nothing while another ref is requested', () => {
    expect(decide(push, 'main', { [CR_ANNOTATIONS.requestedRef]: 'v2' })).toEqual(ignored);
    expect(decide(push, 'v1', { [CR_ANNOTATIONS.requestedRef]: 'main' })).toEqual(requestCommit);
  });

  it('changes nothing if its commit was requested already', () => {
    const again = { [CR_ANNOTATIONS.requestedCommit]: COMMIT };
    expect(decide(push, 'main', again)).toEqual({ outcome: 'unchanged', ref: 'main' });
    expect(decide(push, 'main', { [CR_ANNOTATIONS.requestedCommit]: 'f'.repeat(40) })).toEqual(requestCommit);
  });

  it('of several branches is about the one that is synced', () => {
    const heads = [{ branch: 'a', commit: 'f'.repeat(40) }, ...push.heads];
    expect(decide({ ...push, heads }, 'main')).toEqual(requestCommit);
  });
});
