import { DaemonSet, ServiceAccount } from '@bowline/kubernetes';
import { CSIDriver } from '@bowline/kubernetes/storage-v1';
import { MANAGER } from '../api/names.ts';
import type { SpiffeCSIDriver } from '../api/spiffe-csi-driver.ts';
import type { CleanupRun, OperandCleanup } from '../operand/clean-up.ts';
import { SecurityContextConstraints } from '../third-party/security-context-constraints.ts';
import { podsThatMount } from './mounting-pods.ts';

const MAX_NAMED = 5;

/** csiCleanup returns what is deleted with a SpiffeCSIDriver: after the pods that mount the driver. */
export function csiCleanup({ spec }: SpiffeCSIDriver): OperandCleanup {
  return {
    kind: 'SpiffeCSIDriver',
    component: 'csi',
    tiers: [
      { name: 'workload', kinds: [DaemonSet] },
      { name: 'objects', kinds: [SecurityContextConstraints, ServiceAccount, CSIDriver] },
    ],
    waitsFor: async (run) => {
      const drivers = await driversOf(run, spec.pluginName);
      const pods = await podsThatMount(run.live, drivers);
      if (pods.length === 0) return undefined;
      const named = pods.slice(0, MAX_NAMED).join(', ');
      const more = pods.length > MAX_NAMED ? ` and ${pods.length - MAX_NAMED} more` : '';
      const problem = `pods mount the driver ${[...drivers].sort().join(', ')}, and could not end without it`;
      // The names change with every pod that ends, so only the condition contains them.
      run.event('Warning', 'WorkloadsStillMounted', `${problem}; delete them, see the condition Deleting`);
      return { reason: 'WorkloadsStillMounted', message: `${problem}: ${named}${more}; delete them` };
    },
  };
}

/** After the driver was renamed, pods may still use an earlier one. */
async function driversOf({ live }: CleanupRun, current: string): Promise<ReadonlySet<string>> {
  const { items } = await live.list(CSIDriver, { labelSelector: `app.kubernetes.io/managed-by=${MANAGER}` });
  return new Set([current, ...items.map(({ metadata }) => metadata?.name ?? '')]);
}
