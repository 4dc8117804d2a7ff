import { MAX_DEVICES } from '../api/pool-status.ts';
import { MAX_REPORT_LENGTH } from './parse-report.ts';
import type { Report, ReportedDevice } from './report.ts';

const MAX_ERROR_LENGTH = 1_024;

/**
 * formatReport returns the value of a discovery pod's annotation. A report that is too long loses the details of its
 * devices. If it still is, the list is cut and the report becomes an error: a part of the devices must not be taken for
 * all of them, because the rest would count as unplugged.
 */
export function formatReport(report: Report): string {
  const { discoveredDevices: devices } = report;
  if (devices.length <= MAX_DEVICES) {
    for (const each of [devices, devices.map(withoutDetails)]) {
      const text = textOf({ ...report, discoveredDevices: each });
      if (text.length <= MAX_REPORT_LENGTH) return text;
    }
  }
  return textOf(cut(report));
}

function cut(report: Report): Report {
  const { length } = report.discoveredDevices;
  const error = `found ${length} devices, more than a report can hold; narrow spec.discovery of the HSMDevice`;
  const failed: Report = { ...report, discoveryStatus: 'error', error, discoveredDevices: [] };
  let left = MAX_REPORT_LENGTH - textOf(failed).length;
  const devices: ReportedDevice[] = [];
  for (const device of report.discoveredDevices.slice(0, MAX_DEVICES).map(withoutDetails)) {
    left -= JSON.stringify(memberOf(device, report)).length + ','.length;
    if (left < 0) break;
    devices.push(device);
  }
  return { ...failed, discoveredDevices: devices };
}

function withoutDetails(device: ReportedDevice): ReportedDevice {
  return { ...device, deviceInfo: undefined };
}

function textOf(report: Report): string {
  const { discoveredDevices, error, ...members } = report;
  return JSON.stringify({
    ...members,
    discoveredDevices: discoveredDevices.map((device) => memberOf(device, report)),
    error: error?.slice(0, MAX_ERROR_LENGTH),
  });
}

/** The node of a device defaults to the reporting node. */
function memberOf({ nodeName, ...device }: ReportedDevice, { reportingNode }: Report): object {
  return nodeName === reportingNode ? device : { ...device, nodeName };
}
