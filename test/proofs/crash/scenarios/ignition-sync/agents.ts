import { desiredHash } from '../../../../../operators/ignition-sync/src/protocol/desired-hash.ts';
import { decodeReport, encodeReport } from '../../../../../operators/ignition-sync/src/protocol/gateway-report.ts';
import { decodeMetadata } from '../../../../../operators/ignition-sync/src/protocol/metadata.ts';
import { snapshotOf } from '../../../../../operators/ignition-sync/src/protocol/snapshot-of.ts';

type Data = Readonly<Record<string, string>> | undefined;

/** ReportsDue is what the agents of an IgnitionSync report next. */
export interface ReportsDue {
  /** By the key in the status ConfigMap. Agents that have reported their state are missing. */
  readonly reports: Readonly<Record<string, string>>;
  /** The number of gateways that may sync and have not reported it. */
  readonly syncing: number;
}

/**
 * reportsDue returns what the agents of an IgnitionSync report when they have done what they are told to. A gateway that stays at
 * a snapshot has the commit of that. `metadata` and `status` are the data of the ConfigMaps.
 */
export function reportsDue(
  metadata: Data,
  status: Data,
  { snapshotCommit }: { readonly snapshotCommit: string },
): ReportsDue {
  if (metadata === undefined) return { reports: {}, syncing: 0 };
  const told = decodeMetadata(metadata);
  if (told.paused) return { reports: {}, syncing: 0 };
  const due = Object.entries(told.plan).flatMap(([pod, plan]) => {
    const appliedHash = desiredHash(told, pod);
    if (appliedHash === undefined) return [];
    const last = status?.[plan.key];
    if (last !== undefined && decodeReport(plan.key, last).appliedHash === appliedHash) return [];
    const isRolledBack = snapshotOf(told.rollback, plan) !== undefined;
    const report = encodeReport({
      syncStatus: 'Synced',
      syncedCommit: isRolledBack ? snapshotCommit : plan.commit,
      syncedRef: plan.ref,
      appliedHash,
      agentVersion: '0.1.0',
    });
    return [[plan.key, report] as const];
  });
  return { reports: Object.fromEntries(due), syncing: due.length };
}

/**
 * skippingStage returns a gateway that may get the commit although the gateway of the stage before has not reported it. Undefined if
 * there is none. One that has the commit already keeps it: a ref may return to an earlier commit, and agents report only after
 * this check.
 */
export function skippingStage(metadata: Data, status: Data, first: string): string | undefined {
  if (metadata === undefined) return undefined;
  const told = decodeMetadata(metadata);
  const has = (pod: string): boolean => {
    const report = status?.[pod];
    return report !== undefined && decodeReport(pod, report).syncedCommit === told.commit;
  };
  if (has(first)) return undefined;
  return Object.entries(told.plan)
    .filter(([pod]) => pod !== first && !has(pod))
    .filter(([pod, { commit }]) => commit === told.commit && desiredHash(told, pod) !== undefined)
    .map(([pod]) => pod)[0];
}
