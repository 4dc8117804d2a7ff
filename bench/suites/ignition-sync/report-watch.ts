import { objectNames } from '../../../operators/ignition-sync/src/api/names.ts';
import { decodeReport, type GatewayReport } from '../../../operators/ignition-sync/src/protocol/gateway-report.ts';
import { BareObserver } from '../../support/bare-observer.ts';
import { watchListPath } from '../../support/bare-watch.ts';
import type { SubjectProcess } from '../../support/subject-process.ts';
import type { IgnitionScene } from './scene.ts';

const timeoutMs = 120_000;

/** ReportWatch observes what an agent reports, with a bare watch. */
export interface ReportWatch extends Disposable {
  /** until waits for a report, and returns when it was observed, as `performance.now()`. */
  until(expected: (report: GatewayReport) => boolean, agent: SubjectProcess): Promise<number>;
}

/** watchReport observes one key of the status ConfigMap of an IgnitionSync. */
export async function watchReport(
  { connection }: IgnitionScene,
  { namespace, cr, key }: { readonly namespace: string; readonly cr: string; readonly key: string },
): Promise<ReportWatch> {
  const selector = `fieldSelector=metadata.name%3D${objectNames(cr).status}`;
  const path = `${watchListPath(`/api/v1/namespaces/${namespace}/configmaps`)}&${selector}`;
  let last: { readonly report: GatewayReport; readonly arrivedMs: number } | undefined;
  const observer = new BareObserver(connection, [path], ({ object }, arrivedMs) => {
    const value = object.data?.[key];
    if (value !== undefined) last = { report: decodeReport(key, value), arrivedMs };
  });
  await observer.synced();
  return {
    async until(expected, agent) {
      const describe = (): string => `for a report; the last is ${JSON.stringify(last?.report)}: ${agent.output()}`;
      await observer.until(() => last !== undefined && expected(last.report), { timeoutMs, describe });
      return last?.arrivedMs ?? Number.NaN;
    },
    [Symbol.dispose]: () => observer[Symbol.dispose](),
  };
}
