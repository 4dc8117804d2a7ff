import { memoizeByText } from '@bowline/machinery';
import type { Discovery, Gateway } from '../discovery/discover-gateways.ts';
import { ProtocolError } from '../protocol/decode-json.ts';
import { decodeReport, type GatewayReport, MAX_REPORT_BYTES } from '../protocol/gateway-report.ts';

/** All reports are read in each run, and few of them change. In total, this holds the largest reports of 2,000 gateways. */
const decode = memoizeByText((text) => decodeReport('report', text), 2_000 * MAX_REPORT_BYTES);

/** CollectedReports holds what agents wrote into the status ConfigMap. */
export interface CollectedReports {
  /** The reports by pod name. */
  readonly reports: ReadonlyMap<string, GatewayReport>;
  /** The keys of gateways whose report cannot be read. */
  readonly malformed: readonly string[];
  /** The keys of pods that no longer exist; they can be removed. */
  readonly stale: readonly string[];
}

/** collectReports reads the data of the status ConfigMap. A report that cannot be read does not affect the others. */
export function collectReports(
  data: Readonly<Record<string, string>> | undefined,
  { gateways, starting, knownKeys }: Discovery,
): CollectedReports {
  const reports = new Map<string, GatewayReport>();
  const malformed: string[] = [];
  for (const { pod, key } of [...gateways, ...starting]) {
    const found = keyOfReport(data, { pod, key });
    if (found === undefined) continue;
    try {
      reports.set(pod.name, decode(data?.[found] ?? ''));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      malformed.push(found);
    }
  }
  const stale = Object.keys(data ?? {}).filter((key) => !knownKeys.has(key));
  return { reports, malformed: malformed.sort(), stale: stale.sort() };
}

/** An agent that does not know its plan yet reports by the name of its pod. */
function keyOfReport(
  data: Readonly<Record<string, string>> | undefined,
  { pod, key }: Pick<Gateway, 'pod' | 'key'>,
): string | undefined {
  return [pod.name, key].find((each) => data?.[each] !== undefined);
}
