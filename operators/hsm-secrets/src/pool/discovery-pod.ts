import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Pod } from '@bowline/kubernetes';
import { changed, project } from '@bowline/runtime';
import { LABELS, REPORT_ANNOTATION } from '../api/names.ts';
import { parseReport } from '../reports/parse-report.ts';
import type { ParsedReport, Report } from '../reports/report.ts';

/** DiscoveryPod is what is kept of a pod that may carry a report. */
export interface DiscoveryPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Empty until the pod is scheduled. */
  readonly nodeName: string;
  /** Whether the pod has not ended. A pod that is being deleted is live. */
  readonly isLive: boolean;
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** The uid of its controller. */
  readonly controllerUID: string | undefined;
  readonly templateHash: string | undefined;
  /** The HSMDevice in its label. */
  readonly device: string | undefined;
  /** Undefined if it has no report. */
  readonly parsed: ParsedReport | undefined;
  /** Identifies its report. */
  readonly reportVersion: string | undefined;
}

const ENDED: ReadonlySet<string> = new Set(['Failed', 'Succeeded']);

/** discoveryPod reads a pod that may carry a report. */
export function discoveryPod({ metadata = {}, spec, status }: Pod): DiscoveryPod {
  const text = metadata.annotations?.[REPORT_ANNOTATION];
  const isReady = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    nodeName: spec?.nodeName ?? '',
    isLive: !ENDED.has(status?.phase ?? ''),
    isReady: isReady ?? false,
    isTerminating: metadata.deletionTimestamp !== undefined,
    controllerUID: metadata.ownerReferences?.find(({ controller }) => controller)?.uid,
    templateHash: metadata.labels?.[LABELS.templateHash],
    device: metadata.labels?.[LABELS.device],
    parsed: text === undefined ? undefined : parseReport(text),
    reportVersion: text === undefined ? undefined : hash('sha1', text, 'base64'),
  };
}

/** podView keeps the parsed report of each pod. */
export const podView = project(discoveryPod);

/** podChanged passes changes of a pod that can change a pool. Heartbeats do not: only their times differ. */
export const podChanged = changed(
  (previous: DiscoveryPod, current: DiscoveryPod) => !isDeepStrictEqual(contentOf(previous), contentOf(current)),
);

/** devicesOf returns the HSMDevices of its namespace that a pod concerns: that of its label, and that of its report. */
export function devicesOf({ device, parsed }: DiscoveryPod): readonly string[] {
  const reported = parsed && 'report' in parsed ? parsed.report.hsmDeviceName : undefined;
  return [device, reported].filter((name, index, all) => name !== undefined && all.indexOf(name) === index) as string[];
}

/** contentOf returns a pod without what changes with every heartbeat. */
function contentOf(pod: DiscoveryPod): object {
  const { parsed } = pod;
  return { ...pod, reportVersion: undefined, parsed: parsed && 'report' in parsed ? timeless(parsed.report) : parsed };
}

function timeless(report: Report): object {
  const discoveredDevices = report.discoveredDevices.map((device) => ({ ...device, lastSeen: undefined }));
  return { ...report, lastReportTime: undefined, discoveredDevices };
}
