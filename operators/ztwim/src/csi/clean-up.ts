import { DaemonSet, keyOf, keyString, Pod, ServiceAccount } from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { MANAGER } from '../api/names.ts';
import type { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import type { CleanupRun, OperandCleanup } from '../operand/clean-up.ts';

const MAX_NAMED = 5;

/** csiCleanup returns what is deleted with a SpiffeCSIDriver: after the pods that mount the driver. */
export function csiCleanup({ spec }: SpiffeCSIDriver): OperandCleanup {
  return {
    kind: 'SpiffeCSIDriver',
    component: 'csi',
    tiers: [
      { name: 'workload', kinds: [DaemonSet] },
      { name: 'objects', kinds: [ServiceAccount, CSIDriver] },
    ],
    waitsFor: async (run) => {
      const drivers = await driversOf(run, spec.pluginName);
      const pods = await podsThatMount(run, drivers);
      if (pods.length === 0) return undefined;
      const named = pods.slice(0, MAX_NAMED).join(', ');
      const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : '';
      const message = `pods mount the driver ${[...drivers].join(', ')}, and could not end without it: ${named}${more}; delete them`;
      run.event('Warning', 'WorkloadsStillMounted', message);
      return { reason: 'WorkloadsStillMounted', message };
    },
  };
}

/** After the driver was renamed, pods may still use an earlier one. */
async function driversOf({ live }: CleanupRun, current: string): Promise<ReadonlySet<string>> {
  const { items } = await live.list(CSIDriver, { labelSelector: `app.kubernetes.io/managed-by=${MANAGER}` });
  return new Set([current, ...items.map(({ metadata }) => metadata?.name ?? '')]);
}

/** They are listed only here: a cache of all pods would be large. */
async function podsThatMount({ live }: CleanupRun, drivers: ReadonlySet<string>): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { items } of live.pages(Pod)) {
    for (const pod of items) {
      const hasEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
      const mounts = pod.spec?.volumes?.some(({ csi }) => csi !== undefined && drivers.has(csi.driver));
      if (mounts && !hasEnded) names.push(keyString(keyOf(pod)));
    }
  }
  return names.sort();
}
