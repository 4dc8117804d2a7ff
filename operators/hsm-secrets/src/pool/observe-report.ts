import { keyString, Pod } from '@bowline/kubernetes';
import type { KeyedContext } from '@bowline/runtime';
import type { WriteTypes } from '@bowline/runtime/controller';
import { HSMPool } from '../api/hsm-pool.ts';
import { poolName } from '../api/names.ts';
import type { Deps } from '../deps.ts';
import type { Report } from '../reports/report.ts';
import { contentProblem } from './accept-reports.ts';
import type { DiscoveryPod } from './discovery-pod.ts';

type ReportsContext = KeyedContext<
  {
    readonly [K in (typeof Pod)['id']]: { readonly value: DiscoveryPod; readonly index: never };
  } & {
    readonly [K in (typeof HSMPool)['id']]: { readonly value: HSMPool; readonly index: never };
  },
  Deps,
  WriteTypes
>;

/**
 * observeReport records that the report of a pod has changed. It forgets pods that are in no pool any more, and pools
 * that were deleted. The key is that of a pool, or that of a pod with its uid.
 */
export function observeReport({ key, get, list, deps }: Pick<ReportsContext, 'key' | 'get' | 'list' | 'deps'>): void {
  const { confirmations, metrics, wokenPools } = deps;
  const [namespace = '', name = '', uid] = key.split('/');
  if (uid === undefined) {
    if (!get(HSMPool, { namespace, name })) metrics.forgetPool(key);
    return;
  }
  const pod = get(Pod, { namespace, name });
  if (pod?.uid !== uid) {
    const isListed = list(HSMPool, { namespace }).some(({ status }) =>
      status?.reportingPods?.some(({ podUID }) => podUID === uid),
    );
    if (!isListed) confirmations.forget(uid);
    return;
  }
  if (!pod.parsed || !pod.reportVersion) return;
  const report = 'report' in pod.parsed ? pod.parsed.report : undefined;
  const isValid = report !== undefined && isAboutPod(report, pod);
  metrics.reported(isValid);
  // Such a report confirms nothing.
  if (!isValid) return;
  const { hsmDeviceName, lastReportTime } = report;
  const pool = keyString({ namespace, name: poolName(hsmDeviceName) });
  const woken = confirmations.heartbeat({ podUID: uid, version: pod.reportVersion, lastReportTime }, pool);
  if (woken !== undefined) wokenPools.add(woken);
}

function isAboutPod(report: Report, { device = report.hsmDeviceName, nodeName }: DiscoveryPod): boolean {
  return contentProblem(report, { device, nodeName }) === undefined;
}
