import { describe, expect, it } from 'vitest';
import { MAX_REPORT_LENGTH, parseReport } from './parse-report.ts';

/** The report of the seed document. */
const SEED = {
  hsmDeviceName: 'pico-hsm',
  reportingNode: 'node1',
  discoveredDevices: [
    { devicePath: '/dev/bus/usb/001/015', serialNumber: 'DC6A33145E23A42A', lastSeen: '2025-08-19T10:00:00Z' },
  ],
  lastReportTime: '2025-08-19T10:00:00Z',
  discoveryStatus: 'completed',
};

const parse = (change: object) => parseReport(JSON.stringify({ ...SEED, ...change }));
const device = (change: object) => parse({ discoveredDevices: [{ devicePath: '/dev/a', ...change }] });

describe('a report', () => {
  it('of the seed is available on the reporting node by default', () => {
    expect(parseReport(JSON.stringify(SEED))).toEqual({
      report: {
        ...SEED,
        error: undefined,
        discoveredDevices: [
          { ...SEED.discoveredDevices[0], nodeName: 'node1', available: true, deviceInfo: undefined },
        ],
      },
    });
  });

  it('may have members that are not known, and no devices', () => {
    expect(parse({ more: { a: [1] }, discoveredDevices: undefined })).toMatchObject({
      report: { discoveredDevices: [] },
    });
  });

  it('may have members that are null, and numbers of any size in members that are not known', () => {
    expect(device({ available: null, lastSeen: null, deviceInfo: null })).toMatchObject({
      report: { discoveredDevices: [{ available: true }] },
    });
    expect(parseReport(JSON.stringify(SEED).replace('{', '{"more":1e999,'))).toMatchObject({ report: SEED });
  });

  it('has characters like a policy of the API server counts them', () => {
    expect(parse({ error: '😀'.repeat(1_024) })).toMatchObject({ report: {} });
    expect(parse({ error: '😀'.repeat(1_025) })).toMatchObject({
      problem: expect.stringMatching(/^error must/) as string,
    });
    const text = JSON.stringify(SEED);
    expect(parseReport(text + ' '.repeat(MAX_REPORT_LENGTH - text.length))).toMatchObject({ report: {} });
  });

  it('has halves of surrogate pairs replaced, as the API server stores them', () => {
    expect(device({ serialNumber: 'a\ud800', deviceInfo: { '\udc00': '\ud800b' } })).toMatchObject({
      report: { discoveredDevices: [{ serialNumber: 'a\ufffd', deviceInfo: { '\ufffd': '\ufffdb' } }] },
    });
  });

  it('keeps __proto__ as an ordinary key', () => {
    const text = JSON.stringify(SEED).replace('"devicePath"', '"deviceInfo":{"__proto__":"x"},"devicePath"');
    const parsed = parseReport(text);
    expect('report' in parsed && Object.keys(parsed.report.discoveredDevices[0]?.deviceInfo ?? {})).toEqual([
      '__proto__',
    ]);
  });
});

describe('a text that is not a report', () => {
  it.each([
    ['not JSON', '{', /^the report is not JSON: /],
    ['a list', '[]', /^the report must be an object$/],
    ['too long', ' '.repeat(MAX_REPORT_LENGTH + 1), /^the report has 65537 characters; the maximum is 65536$/],
    [
      'nested too deeply',
      '['.repeat(9) + ']'.repeat(9),
      /^the report is not JSON: the document nests deeper than 8 levels$/,
    ],
    ['with a member twice', '{"hsmDeviceName":"a","hsmDeviceName":"b"}', /^hsmDeviceName occurs more than once$/],
    ['with a member of an odd name twice', '{"a\\nb":1,"a\\nb":2}', /^"a\\nb" occurs more than once$/],
    [
      'with a member of a long name twice',
      `{"${'a'.repeat(999)}":1,"${'a'.repeat(999)}":2}`,
      /^"a{100}…" occurs more than once$/,
    ],
  ])('is refused if it is %s', (_what, text, problem) => {
    expect(parseReport(text)).toEqual({ problem: expect.stringMatching(problem) as string });
  });

  it.each([
    [{ hsmDeviceName: undefined }, 'hsmDeviceName is missing'],
    [{ hsmDeviceName: '' }, 'hsmDeviceName is missing'],
    [{ reportingNode: 7 }, 'reportingNode must be a text of at most 253 characters'],
    [{ lastReportTime: undefined }, 'lastReportTime is missing'],
    [{ lastReportTime: 'yesterday' }, 'lastReportTime must be a time such as 2025-08-19T10:00:00Z'],
    [{ discoveryStatus: 'done' }, 'discoveryStatus must be one of discovering, completed, error'],
    [{ error: 'x'.repeat(1_025) }, 'error must be a text of at most 1024 characters'],
    [{ discoveredDevices: {} }, 'discoveredDevices must be a list'],
    [{ discoveredDevices: Array(1_025).fill(1) }, 'discoveredDevices has 1025 items; the maximum is 1024'],
    [{ discoveredDevices: [1] }, 'discoveredDevices[0] must be an object'],
  ])('is refused with the name of the member: %j', (change, problem) => {
    expect(parse(change)).toEqual({ problem });
  });

  it.each([
    [{ devicePath: undefined }, 'discoveredDevices[0].devicePath is missing'],
    [{ available: 'yes' }, 'discoveredDevices[0].available must be true or false'],
    [{ serialNumber: 'x'.repeat(129) }, 'discoveredDevices[0].serialNumber must be a text of at most 128 characters'],
    [{ lastSeen: '2025-02-30T00:00:00Z' }, 'discoveredDevices[0].lastSeen must be a time such as 2025-08-19T10:00:00Z'],
    [{ deviceInfo: [] }, 'discoveredDevices[0].deviceInfo must be an object'],
    [{ deviceInfo: { a: 1 } }, 'discoveredDevices[0].deviceInfo must have texts of at most 256 characters'],
    [
      { deviceInfo: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`${index}`, ''])) },
      'discoveredDevices[0].deviceInfo has 17 entries; the maximum is 16',
    ],
  ])('is refused with the name of the member of a device: %j', (change, problem) => {
    expect(device(change)).toEqual({ problem });
  });
});
