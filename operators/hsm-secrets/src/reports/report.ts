/** DISCOVERY_STATUSES are the states of a search: it runs for the first time, it ended, or it failed. */
export const DISCOVERY_STATUSES = ['discovering', 'completed', 'error'] as const;

/** DiscoveryStatus is the state of a search. */
export type DiscoveryStatus = (typeof DISCOVERY_STATUSES)[number];

/** ReportedDevice is a device that a pod found on its node. */
export interface ReportedDevice {
  readonly devicePath: string;
  readonly serialNumber: string | undefined;
  readonly lastSeen: string | undefined;
  readonly nodeName: string;
  readonly available: boolean;
  readonly deviceInfo: Readonly<Record<string, string>> | undefined;
}

/** Report is what a discovery pod found on its node, for one HSMDevice. */
export interface Report {
  readonly hsmDeviceName: string;
  readonly reportingNode: string;
  readonly discoveredDevices: readonly ReportedDevice[];
  /** By the clock of the node; it decides nothing. */
  readonly lastReportTime: string;
  readonly discoveryStatus: DiscoveryStatus;
  readonly error: string | undefined;
}

/** ParsedReport is a report, or the reason why the text is not one. */
export type ParsedReport = { readonly report: Report } | { readonly problem: string };
