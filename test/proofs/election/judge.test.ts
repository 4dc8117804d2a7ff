import type { AuditEvent } from '@bowline/control-plane';
import { describe, expect, it } from 'vitest';
import type { JournalEntry } from './journal.ts';
import { type Evidence, judge } from './judge.ts';

const at = (ms: number): string => new Date(1_000_000 + ms).toISOString();

function event(user: string, resource: string, name: string, ms: number, code = 200): AuditEvent {
  return {
    auditID: `${user}-${ms}`,
    stage: 'ResponseComplete',
    level: 'Metadata',
    verb: 'patch',
    requestURI: '/',
    user: { username: user },
    objectRef: { resource, name },
    responseStatus: { code },
    requestReceivedTimestamp: at(ms),
    stageTimestamp: at(ms + 1),
  };
}

const renewal: readonly JournalEntry[] = [
  { kind: 'sent', id: 1, what: 'lease', name: 'l', at: 100 },
  { kind: 'answered', id: 1, status: 200, at: 110 },
];
const sent = (name: string, ms: number): JournalEntry => ({ kind: 'sent', id: ms, what: 'write', name, at: ms });

function verdict(change: Partial<Evidence>) {
  return judge({
    audit: [event('new', 'leases', 'l', 5_000)],
    journal: renewal,
    oldUser: 'old',
    newUser: 'new',
    renewDeadlineMs: 2_000,
    ...change,
  });
}

describe('judge', () => {
  it('accepts a leader that stopped in time', () => {
    const audit = [event('old', 'configmaps', 'w-1', 1_000), event('new', 'leases', 'l', 5_000)];
    expect(verdict({ audit, journal: [...renewal, sent('w-1', 900)] })).toMatchObject({ violations: [], late: 0 });
  });

  it('counts, but does not reject, writes sent in time that arrived late', () => {
    const audit = [
      event('new', 'leases', 'l', 5_000),
      event('old', 'configmaps', 'w-1', 6_000),
      event('old', 'configmaps', 'w-2', 6_000, 504),
    ];
    const journal = [...renewal, sent('w-1', 2_090), sent('w-2', 2_095)];
    expect(verdict({ audit, journal })).toMatchObject({ violations: [], late: 2, lateStored: 1 });
  });

  it('rejects a write that was sent after the deadline, whatever its result', () => {
    expect(verdict({ journal: [...renewal, sent('w-1', 2_101)] }).violations).toEqual([
      'sent w-1 2001 ms after the last successful renewal was sent',
    ]);
  });

  it('rejects a write before the first successful renewal, and a renewal after the deadline', () => {
    const refused: JournalEntry = { kind: 'answered', id: 1, status: 409, at: 110 };
    const first: JournalEntry = { kind: 'sent', id: 1, what: 'lease', name: 'l', at: 100 };
    expect(verdict({ journal: [first, refused, sent('w-1', 200)] }).violations).toHaveLength(1);
    const tooLate: JournalEntry = { kind: 'sent', id: 2, what: 'lease', name: 'l', at: 2_200 };
    expect(verdict({ journal: [...renewal, tooLate] }).violations).toHaveLength(1);
  });

  it('rejects a request that is missing in the journal of the old leader', () => {
    const audit = [event('new', 'leases', 'l', 5_000), event('old', 'configmaps', 'w-9', 6_000)];
    expect(verdict({ audit }).violations).toHaveLength(1);
    const leases = [event('old', 'leases', 'l', 100), event('old', 'leases', 'l', 6_000)];
    expect(verdict({ audit: [event('new', 'leases', 'l', 5_000), ...leases] }).violations).toHaveLength(1);
  });

  it('reports a missing claim of the new leader', () => {
    expect(verdict({ audit: [] }).violations).toHaveLength(1);
  });
});
