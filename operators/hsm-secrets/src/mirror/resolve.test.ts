import { describe, expect, it } from 'vitest';
import type { PathAnswer } from './path-answer.ts';
import { type Decision, type ResolveInput, resolve } from './resolve.ts';

const NOW = Date.parse('2026-01-10T00:00:00Z');
const OLD = '2026-01-01T00:00:00Z';
const LATER = '2026-01-02T00:00:00Z';
const RECENT = '2026-01-09T23:59:00Z';
const DAY_OLD = '2026-01-09T00:00:00Z';

const copy = (version: number, checksum: string, timestamp: string | undefined = OLD): PathAnswer => {
  return { kind: 'copy', version, timestamp, checksum };
};
const undated = (version: number, checksum: string): PathAnswer => {
  return { kind: 'copy', version, timestamp: undefined, checksum };
};
const tombstone = (version: number, timestamp: string | undefined = RECENT): PathAnswer => {
  return { kind: 'tombstone', version, timestamp };
};
const absent: PathAnswer = { kind: 'absent' };
const error: PathAnswer = { kind: 'error' };

/** A list of answers, one for each device A, B, C, …; undefined for a device without an answer. */
type Answers = readonly (PathAnswer | undefined)[];

function decide(answers: Answers, change: Partial<ResolveInput> = {}): Decision {
  const serials = answers.map((_, index) => String.fromCharCode(65 + index));
  const known = answers.flatMap((answer, index) => (answer ? [[serials[index] ?? '', answer] as const] : []));
  return resolve({ expected: serials, answers: new Map(known), now: NOW, ...change });
}

/** The decision in short: `rewrite B C from A at 5`, `purge A B`, `none` or `wait`. */
function short(decision: Decision): string {
  if (decision.action === 'purge') return `purge ${decision.tombstones.map(({ serial }) => serial).join(' ')}`;
  if (decision.action !== 'rewrite') return decision.action;
  const { winner, outliers } = decision;
  return `rewrite ${outliers.map(({ serial }) => serial).join(' ')} from ${winner.holders[0]} at ${winner.version}`;
}

describe('one or two devices', () => {
  it.each<readonly [string, Answers, string]>([
    ['one copy', [copy(1, 'a')], 'none'],
    ['equal copies', [copy(1, 'a'), copy(1, 'a')], 'none'],
    ['nothing at all', [absent, absent], 'none'],
    ['a higher version', [copy(2, 'a'), copy(1, 'b', LATER)], 'rewrite B from A at 2'],
    ['a later time of the same version', [copy(2, 'a'), copy(2, 'b', LATER)], 'rewrite A from B at 2'],
    ['a lower serial number of the same version and time', [copy(2, 'a'), copy(2, 'b')], 'rewrite B from A at 2'],
    ['a tombstone and an older copy', [copy(1, 'a'), tombstone(2)], 'rewrite A from B at 2'],
    ['a copy and an older tombstone', [copy(3, 'a'), tombstone(2)], 'rewrite B from A at 3'],
    ['a device without the path', [absent, copy(4, 'a')], 'rewrite A from B at 4'],
    ['a device that does not know of a deletion', [absent, tombstone(4)], 'rewrite A from B at 4'],
    ['a device with an error', [copy(1, 'a'), error], 'none'],
    ['a missing device', [copy(1, 'a'), undefined], 'none'],
  ])('resolve %s', (_what, answers, expected) => {
    expect(short(decide(answers))).toBe(expected);
  });
});

describe('three or more devices', () => {
  it.each<readonly [string, Answers, string]>([
    ['follow two of three', [copy(1, 'a'), copy(1, 'a'), copy(2, 'b')], 'rewrite C from A at 1'],
    [
      'follow two of three with the same version',
      [copy(1, 'b', LATER), copy(1, 'a'), copy(1, 'a')],
      'rewrite A from B at 1',
    ],
    ['follow two of three that have deleted it', [tombstone(2), tombstone(2), copy(3, 'a')], 'rewrite C from A at 2'],
    ['follow the last write without a majority', [copy(1, 'a'), copy(2, 'b'), copy(3, 'c')], 'rewrite A B from C at 3'],
    [
      'do not take half of four for a majority',
      [copy(1, 'a'), copy(1, 'a'), copy(2, 'b'), copy(2, 'b')],
      'rewrite A B from C at 2',
    ],
    ['keep the rules with one device down', [copy(1, 'a'), copy(2, 'b'), undefined], 'rewrite A from B at 2'],
    ['keep the rules with an error', [copy(1, 'a'), error, copy(2, 'b')], 'rewrite A from C at 2'],
    ['wait for a majority', [copy(1, 'a'), error, undefined, copy(2, 'b')], 'wait'],
    ['fill one that was replaced', [copy(1, 'a'), absent, copy(1, 'a')], 'rewrite B from A at 1'],
    ['fill all when all have answered', [absent, absent, copy(1, 'a')], 'rewrite A B from C at 1'],
    ['do not count one that was replaced', [copy(1, 'a'), absent, undefined], 'wait'],
    ['do not count those that were replaced', [copy(1, 'a'), copy(1, 'a'), absent, undefined, undefined], 'wait'],
  ])('%s', (_what, answers, expected) => {
    expect(short(decide(answers))).toBe(expected);
  });

  it('treat a read error like a missing device, and never like an absent path', () => {
    const others = [copy(1, 'a'), copy(2, 'b')];
    expect(decide([...others, error, error])).toEqual(decide([...others, undefined, undefined]));
    expect(short(decide([...others, error, error]))).toBe('wait');
    expect(short(decide([...others, absent, absent]))).not.toBe('wait');
  });
});

describe('a rewrite', () => {
  it('replaces exactly what the device had', () => {
    expect(decide([copy(7, 'a'), copy(3, 'b'), tombstone(2), absent, error])).toMatchObject({
      winner: { found: copy(7, 'a'), holders: ['A'], version: 7, timestamp: OLD },
      outliers: [
        { serial: 'B', replaces: 3 },
        { serial: 'C', replaces: 2 },
        { serial: 'D', replaces: 0 },
      ],
    });
  });

  it('reads from any device that has the content, those of the same write first', () => {
    const decision = decide([copy(1, 'a'), copy(1, 'a', LATER), copy(1, 'a', LATER), absent]);
    expect(decision).toMatchObject({ winner: { holders: ['B', 'C', 'A'], timestamp: LATER }, hasConflict: false });
    expect(short(decision)).toBe('rewrite A D from B at 1');
  });

  it('gives a version and a time to content that has none, on all devices', () => {
    const decision = decide([undated(0, 'a'), absent]);
    expect(decision).toMatchObject({
      winner: { version: 1, timestamp: '2026-01-10T00:00:00.000000Z' },
      outliers: [
        { serial: 'A', replaces: undefined },
        { serial: 'B', replaces: 0 },
      ],
    });
    expect(short(decide([undated(0, 'a'), undated(0, 'a')]))).toBe('none');
  });

  it.each<readonly [string, Answers]>([
    ['a newer version', [copy(1, 'a'), copy(1, 'a'), copy(2, 'b', RECENT)]],
    ['a newer version of the same values', [copy(1, 'a'), copy(1, 'a'), copy(2, 'a', RECENT)]],
    ['another content of the same version', [copy(1, 'a'), copy(1, 'a'), copy(1, 'b', RECENT)]],
  ])('waits while %s may be part of a write in progress', (_what, answers) => {
    expect(short(decide(answers))).toBe('wait');
    expect(short(decide(answers, { writeMs: 60_000 }))).toBe('rewrite C from A at 1');
  });

  it('does not wait to spread a write in progress', () => {
    expect(short(decide([copy(1, 'a'), copy(2, 'b', RECENT), undefined]))).toBe('rewrite A from B at 2');
  });
});

describe('a tombstone', () => {
  it.each<readonly [string, Answers, string]>([
    ['is purged after 24 hours', [tombstone(2, DAY_OLD), tombstone(2, DAY_OLD)], 'purge A B'],
    ['stays before', [tombstone(2, '2026-01-09T00:00:01Z'), tombstone(2, '2026-01-09T00:00:01Z')], 'none'],
    ['is purged although an earlier purge was interrupted', [absent, tombstone(2, DAY_OLD), absent], 'purge B'],
    ['stays while a device has not answered', [tombstone(2, OLD), tombstone(2, OLD), undefined], 'none'],
    ['stays while a device has an error', [tombstone(2, OLD), error], 'none'],
    ['stays while a device has a copy', [tombstone(2, OLD), copy(1, 'a', OLD)], 'rewrite B from A at 2'],
    ['is purged on a single device', [tombstone(2, OLD)], 'purge A'],
    ['without a time gets one', [{ kind: 'tombstone', version: 2, timestamp: undefined }], 'rewrite A from A at 2'],
    ['with an invalid time gets one', [tombstone(2, 'yesterday')], 'rewrite A from A at 2'],
    [
      'that was purged elsewhere yields to a newer secret',
      [tombstone(7, OLD), copy(1, 'a', LATER)],
      'rewrite A from B at 1',
    ],
    [
      'that was purged elsewhere still beats what it deleted',
      [tombstone(7, LATER), copy(1, 'a', DAY_OLD), copy(6, 'b', OLD)],
      'rewrite A C from B at 1',
    ],
  ])('%s', (_what, answers, expected) => {
    expect(short(decide(answers))).toBe(expected);
  });
});

describe('the primary device', () => {
  it.each<readonly [string, Answers, string]>([
    ['decides against the others', [copy(2, 'b'), copy(1, 'a'), copy(2, 'b')], 'rewrite A C from B at 1'],
    ['decides with a tombstone', [copy(2, 'b'), tombstone(1), copy(2, 'b')], 'rewrite A C from B at 1'],
    ['decides although others are missing', [copy(2, 'b'), copy(1, 'a'), undefined], 'rewrite A from B at 1'],
    ['must have answered', [copy(2, 'b'), error, copy(1, 'b')], 'wait'],
    ['gets what it does not have', [copy(2, 'b'), absent, copy(2, 'b')], 'rewrite B from A at 2'],
    ['gets nothing before enough devices have answered', [copy(2, 'b'), absent, undefined], 'wait'],
    ['waits for a write in progress', [copy(2, 'b', RECENT), copy(1, 'a'), absent], 'wait'],
  ])('%s', (_what, answers, expected) => {
    expect(short(decide(answers, { primary: 'B' }))).toBe(expected);
  });
});

describe('the consistency', () => {
  it.each<readonly [Answers, string, boolean]>([
    [[copy(1, 'a'), copy(1, 'a')], 'Consistent', false],
    [[absent, absent], 'Consistent', false],
    [[copy(1, 'a'), error], 'Unknown', false],
    [[undefined, undefined], 'Unknown', false],
    [[copy(1, 'a'), copy(2, 'b'), undefined], 'Diverged', false],
    [[copy(1, 'a'), absent], 'Diverged', false],
    [[copy(1, 'a'), copy(1, 'b')], 'Diverged', true],
    [[copy(1, 'a'), tombstone(1)], 'Diverged', true],
    [[copy(1, 'a'), copy(1, 'a'), copy(2, 'b')], 'Diverged', true],
    [[copy(1, 'a'), copy(1, 'a'), copy(2, 'a')], 'Diverged', false],
    [[copy(1, 'a'), copy(1, 'b'), undefined, undefined, undefined], 'Diverged', true],
  ])('of %j is %s, with a conflict: %s', (answers, consistency, hasConflict) => {
    expect(decide(answers)).toMatchObject({ consistency, hasConflict });
  });

  it('does not depend on devices that are not expected', () => {
    const answers = new Map([
      ['Z', copy(9, 'z')],
      ['A', copy(1, 'a')],
    ]);
    expect(resolve({ expected: ['A'], answers, now: NOW })).toMatchObject({
      action: 'none',
      consistency: 'Consistent',
    });
  });
});
