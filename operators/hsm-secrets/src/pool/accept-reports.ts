import type { Report } from '../reports/report.ts';
import type { ObservedPod } from './aggregation-input.ts';
import type { DiscoveryPod } from './discovery-pod.ts';

/** AcceptedReports are the live pods of a pool, and the reports that do not count. */
export interface AcceptedReports {
  readonly livePods: readonly ObservedPod[];
  readonly problems: readonly ReportProblem[];
  /** Live pods whose reports count although they do not belong to our DaemonSet. */
  readonly otherPods: number;
}

/** ReportProblem is why the report of a pod does not count. */
export interface ReportProblem {
  readonly podName: string;
  readonly message: string;
}

/** AcceptanceRules decide which reports count. */
export interface AcceptanceRules {
  readonly device: string;
  /** The uid of the DaemonSet of the HSMDevice. */
  readonly daemonSetUID: string | undefined;
  readonly requireDaemonSetOwner: boolean;
}

/**
 * acceptReports decides which reports count. CEL cannot parse JSON, so the admission policies do not check the content
 * of a report.
 */
export function acceptReports(pods: readonly DiscoveryPod[], rules: AcceptanceRules): AcceptedReports {
  const livePods: ObservedPod[] = [];
  const problems: ReportProblem[] = [];
  let otherPods = 0;
  for (const pod of pods) {
    if (!pod.isLive || !concerns(pod, rules.device)) continue;
    const { name, uid, nodeName, reportVersion } = pod;
    const result = acceptedReport(pod, rules);
    if (typeof result === 'string') problems.push({ podName: name, message: result });
    const report = typeof result === 'string' ? undefined : result;
    livePods.push({ name, uid, nodeName, report, reportVersion });
    if (report && !isOfDaemonSet(pod, rules)) otherPods += 1;
  }
  return { livePods, problems: problems.sort((a, b) => (a.podName < b.podName ? -1 : 1)), otherPods };
}

/** A pod with the label of another device does not concern this one, whatever its report says. */
function concerns({ device: label, parsed }: DiscoveryPod, device: string): boolean {
  if (label !== undefined) return label === device;
  return parsed !== undefined && 'report' in parsed && parsed.report.hsmDeviceName === device;
}

/** Returns the report, why it does not count, or undefined if there is none. */
function acceptedReport(pod: DiscoveryPod, rules: AcceptanceRules): Report | string | undefined {
  const { parsed, nodeName } = pod;
  if (!parsed) return undefined;
  if ('problem' in parsed) return parsed.problem;
  const { report } = parsed;
  const problem = contentProblem(report, { device: rules.device, nodeName });
  if (problem !== undefined) return problem;
  if (rules.requireDaemonSetOwner && !isOfDaemonSet(pod, rules))
    return 'the pod does not belong to the DaemonSet of the HSMDevice; set requireDaemonSetOwner to false to accept its reports';
  return report;
}

/** contentProblem returns why a report cannot be that of a pod for a device on a node; undefined if it can. */
export function contentProblem(
  report: Report,
  { device, nodeName }: { readonly device: string; readonly nodeName: string },
): string | undefined {
  if (report.hsmDeviceName !== device) return `hsmDeviceName is ${report.hsmDeviceName}, but the pod is for ${device}`;
  if (report.reportingNode !== nodeName)
    return `reportingNode is ${report.reportingNode}, but the pod runs on ${nodeName || 'no node yet'}`;
  const foreign = report.discoveredDevices.find((each) => each.nodeName !== nodeName);
  return foreign && `a device is on the node ${foreign.nodeName}, but the pod runs on ${nodeName}`;
}

function isOfDaemonSet({ controllerUID }: DiscoveryPod, { daemonSetUID }: AcceptanceRules): boolean {
  return controllerUID !== undefined && controllerUID === daemonSetUID;
}
