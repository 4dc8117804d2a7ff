import { expect, test } from 'vitest';
import { describeResult, renderPage } from './render.ts';
import { type BenchResult, judge, measured, type SubjectResult } from './result.ts';

const subjects: readonly SubjectResult[] = [
  measured('ours', 'Bowline', [1300, 1200, 1400]),
  measured('bare', 'bare | loop', [1000, 1000, 1000]),
  { id: 'go', label: 'Go program', leftOut: 'no Go' },
];

const result: BenchResult = {
  format: 1,
  suite: 'sample',
  title: 'A sample',
  date: '2026-11-15T00:00:00Z',
  command: 'npm run bench -- sample',
  machine: {
    cores: 2,
    memoryGb: 24,
    platform: 'linux x64',
    loadBefore: 0.1,
    versions: { node: '20.20.2', kubernetes: '1.35.8' },
  },
  notes: ['a note'],
  measures: [
    {
      id: 'sync',
      title: 'cold sync',
      unit: 'ms',
      subjects,
      targets: [
        judge({ id: 'a', subject: 'ours', against: 'bare', bound: 'at most', limit: 1.3 }, subjects),
        judge({ id: 'b', subject: 'ours', bound: 'at most', limit: 1000 }, subjects, 'copying costs'),
        judge({ id: 'd', subject: 'ours', against: 'bare', by: 'difference', bound: 'at most', limit: 400 }, subjects),
        judge({ id: 'c', subject: 'ours', against: 'go', bound: 'at most', limit: 1 }, subjects),
      ],
    },
  ],
};

test('prints value, peer value, ratio, target and result of each target in one row', () => {
  expect(renderPage([result]).split('\n')).toEqual(
    expect.arrayContaining([
      '| cold sync | Bowline | 1,300 ms | bare \\| loop | 1,000 ms | 1.3x | at most 1.3x | yes |',
      '| cold sync | Bowline | 1,300 ms |  |  |  | at most 1,000 ms | **no** |',
      '| cold sync | Bowline | 1,300 ms | bare \\| loop | 1,000 ms | +300 ms | at most +400 ms | yes |',
      '| cold sync | Bowline | 1,300 ms | Go program | skipped: no Go |  | at most 1x | not measured |',
    ]),
  );
});

test('describes the environment and the command of the measurement', () => {
  const page = renderPage([result]);
  for (const text of [
    'npm run bench -- sample',
    '2026-11-15',
    '2 cores, 24 GB',
    'load before the run 0.1',
    'node 20.20.2',
    'a note',
  ]) {
    expect(page).toContain(text);
  }
});

test('prints the reason of missed targets only', () => {
  const reasons = renderPage([result])
    .split('\n')
    .filter((line) => line.includes('missed, because'));
  expect(reasons).toEqual(['- cold sync: missed, because copying costs.']);
});

test('prints every subject with its extremes, including omitted ones', () => {
  const page = renderPage([result]);
  expect(page).toContain('| cold sync | Bowline | 1,300 ms | 1,200 ms | 1,400 ms | 3 |');
  expect(page).toContain('| cold sync | Go program | skipped: no Go |  |  |  |');
});

test('reports when nothing has been measured', () => {
  expect(renderPage([])).toContain('Nothing has been measured yet.');
});

test('describes the results on a terminal', () => {
  const lines = describeResult(result);
  expect(lines[0]).toBe('cold sync');
  expect(lines).toContain('  1.3x against bare | loop, target at most 1.3x: yes');
  expect(lines).toContain('  +300 ms against bare | loop, target at most +400 ms: yes');
  expect(lines).toContain('  Bowline, target at most 1,000 ms: no');
});
