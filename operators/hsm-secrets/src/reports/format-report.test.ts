import { describe, expect, it } from 'vitest';
import { formatReport } from './format-report.ts';
import { MAX_REPORT_LENGTH, parseReport } from './parse-report.ts';
import type { Report, ReportedDevice } from './report.ts';

const DEVICE: ReportedDevice = {
  devicePath: '/dev/bus/usb/001/015',
  serialNumber: 'DC6A33145E23A42A',
  lastSeen: '2026-01-01T00:00:00Z',
  nodeName: 'node1',
  available: true,
  deviceInfo: { vendorId: '20a0', productId: '4230', manufacturer: 'Pol Henarejos', product: 'Pico HSM' },
};

const reportOf = (change: Partial<Report> = {}): Report => ({
  hsmDeviceName: 'pico-hsm',
  reportingNode: 'node1',
  discoveredDevices: [DEVICE],
  lastReportTime: '2026-01-01T00:00:00.000000Z',
  discoveryStatus: 'completed',
  error: undefined,
  ...change,
});

const devices = (count: number): readonly ReportedDevice[] =>
  Array.from({ length: count }, (_, index) => ({ ...DEVICE, serialNumber: `SERIAL-${index}` }));

const parsed = (text: string): Report => {
  const result = parseReport(text);
  if ('problem' in result) throw new TypeError(result.problem);
  return result.report;
};

describe('formatReport', () => {
  it.each([
    ['of a completed search', reportOf()],
    ['without a serial number', reportOf({ discoveredDevices: [{ ...DEVICE, serialNumber: undefined }] })],
    ['of an unavailable device', reportOf({ discoveredDevices: [{ ...DEVICE, available: false }] })],
    ['of another node', reportOf({ discoveredDevices: [{ ...DEVICE, nodeName: 'node2' }] })],
    ['of a failure', reportOf({ discoveryStatus: 'error', error: 'no sysfs', discoveredDevices: [] })],
  ])('writes a report %s so that it is read unchanged', (_what, report) => {
    expect(parsed(formatReport(report))).toEqual(report);
  });

  it('omits the node of a device that is on the reporting node', () => {
    expect(formatReport(reportOf())).not.toContain('nodeName');
  });

  it('shortens the text of an error', () => {
    expect(parsed(formatReport(reportOf({ error: 'x'.repeat(5_000) }))).error).toHaveLength(1_024);
  });

  it('omits the details of devices if the report is too long with them', () => {
    const report = parsed(formatReport(reportOf({ discoveredDevices: devices(300) })));
    expect(report).toMatchObject({ discoveryStatus: 'completed', error: undefined });
    expect(report.discoveredDevices).toHaveLength(300);
    expect(report.discoveredDevices[0]?.deviceInfo).toBeUndefined();
  });

  it.each([[700], [1_024], [1_025], [20_000]])('reports an error if %i devices do not fit', (count) => {
    const text = formatReport(reportOf({ discoveredDevices: devices(count) }));
    expect(text.length).toBeLessThanOrEqual(MAX_REPORT_LENGTH);
    const report = parsed(text);
    expect(report).toMatchObject({
      discoveryStatus: 'error',
      error: `found ${count} devices, more than a report can hold; narrow spec.discovery of the HSMDevice`,
    });
    expect(report.discoveredDevices.length).toBeGreaterThan(300);
    expect(report.discoveredDevices[0]?.serialNumber).toBe('SERIAL-0');
  });
});
