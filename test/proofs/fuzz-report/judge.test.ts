import { seededRandom } from '@bowline/machinery';
import { describe, expect, test } from 'vitest';
import { type Aggregation, aggregate } from '../../../operators/hsm-secrets/src/pool/aggregate.ts';
import type { AggregationInput } from '../../../operators/hsm-secrets/src/pool/aggregation-input.ts';
import { parseReport } from '../../../operators/hsm-secrets/src/reports/parse-report.ts';
import type { Report } from '../../../operators/hsm-secrets/src/reports/report.ts';
import { hostileReport } from './hostile-report.ts';
import { aggregationProblems, parserProblems, repetitionProblems } from './judge.ts';
import { refusals } from './permitted-report.ts';

const SEED = {
  hsmDeviceName: 'pico-hsm',
  reportingNode: 'node1',
  discoveredDevices: [{ devicePath: '/dev/bus/usb/001/015', serialNumber: '1', deviceInfo: { a: 'b' } }],
  lastReportTime: '2025-08-19T10:00:00Z',
  discoveryStatus: 'completed',
};
const TEXT = JSON.stringify(SEED);

function read(text: string): Report {
  const parsed = parseReport(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.report;
}

describe('the independent check of reports', () => {
  test.each([
    ['a report', TEXT],
    ['a report with the maximum length', TEXT + ' '.repeat(65_536 - TEXT.length)],
    ['characters outside of the basic plane', TEXT.replace('{', `{"more":"${'😀'.repeat(60_000)}",`)],
    ['an unknown member that nests seven levels deep', TEXT.replace('{', `{"more":${'['.repeat(7)}${']'.repeat(7)},`)],
    ['an unknown number that is too large', TEXT.replace('{', '{"more":1e999,')],
  ])('permits %s', (_what, text) => {
    expect(refusals(text)).toEqual([]);
  });

  test.each([
    ['a longer text', TEXT + ' '.repeat(65_537 - TEXT.length)],
    ['deeper nesting', TEXT.replace('{', `{"more":${'['.repeat(8)}${']'.repeat(8)},`)],
    ['a member that occurs twice', TEXT.replace('{', '{"more":{"a":1,"\\u0061":2},')],
    ['an unknown status', JSON.stringify({ ...SEED, discoveryStatus: 'done' })],
    ['no node', JSON.stringify({ ...SEED, reportingNode: '' })],
    ['a day that does not exist', JSON.stringify({ ...SEED, lastReportTime: '2025-02-29T10:00:00Z' })],
    ['a device without a path', JSON.stringify({ ...SEED, discoveredDevices: [{}] })],
    ['too many devices', JSON.stringify({ ...SEED, discoveredDevices: Array(1_025).fill({ devicePath: 'a' }) })],
    ['a list', '[]'],
  ])('refuses %s', (_what, text) => {
    expect(refusals(text)).toHaveLength(1);
  });
});

describe('the judge', () => {
  test('detects reports that are accepted, refused or read wrongly, and unreadable messages', () => {
    const report = read(TEXT);
    expect(parserProblems(TEXT, { report })).toEqual([]);
    expect(parserProblems('{}', { report })).not.toEqual([]);
    expect(parserProblems(TEXT, { problem: 'no' })).toEqual(['refused, but permitted: no']);
    expect(parserProblems('{', { problem: 'no' })).toEqual([]);
    expect(parserProblems('{', { problem: 'a\n' })).toHaveLength(1);
    expect(parserProblems('{', { problem: 'a'.repeat(1_000) })).toHaveLength(1);
    expect(parserProblems(TEXT, { report: { ...report, reportingNode: 'node2' } })).toHaveLength(1);
  });

  test('detects aggregations that are out of order, invalid or not stable', () => {
    const input: AggregationInput = {
      now: 0,
      gracePeriodMs: 1,
      livePods: [{ name: 'a', uid: 'a', nodeName: 'a', report: read(TEXT) }],
      confirmedAt: () => 0,
      previous: { pods: [], devices: [] },
      claimedSerials: new Set(),
    };
    const result = aggregate(input);
    const [device] = result.devices;
    if (!device) throw new Error('no device');
    const problems = (change: Partial<Aggregation>) => aggregationProblems(input, { ...result, ...change });
    expect(problems({})).toEqual([]);
    expect(problems({ devices: [device, device] })).toHaveLength(1);
    expect(problems({ devices: [{ ...device, devicePath: 'x'.repeat(2_000) }] })).toHaveLength(1);
    expect(problems({ devices: [{ ...device, lostSince: '2026-01-01T00:00:00Z' }] })).toHaveLength(1);
    expect(problems({ nextChangeAt: input.now })).toHaveLength(1);
    expect(problems({ duplicates: [{ serialNumber: '1', nodeName: 'a', otherNodes: ['a'] }] })).toHaveLength(1);
    expect(repetitionProblems(result, result)).toEqual([]);
    expect(repetitionProblems(result, { ...result, devices: [] })).toHaveLength(1);
  });
});

describe('the generator', () => {
  test('returns the same text for the same seed, of every family', () => {
    const families = new Set<string>();
    for (let seed = 1; seed <= 500; seed++) {
      const hostile = hostileReport(seededRandom(seed));
      expect(hostileReport(seededRandom(seed))).toEqual(hostile);
      families.add(hostile.family);
    }
    expect([...families].sort()).toEqual(['bytes', 'devices', 'long', 'mutated', 'nested', 'structured', 'tokens']);
  });
});
