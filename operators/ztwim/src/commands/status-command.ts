import { command } from '@bowline/runtime';
import type { Command, CommandColumn } from '@bowline/runtime/manager';
import { readLive } from '../operand/shared-objects.ts';
import type { SharedField } from '../resolve/shared-config.ts';
import { conflictError } from './conflict-table.ts';
import { type StatusRow, statusRows } from './status-rows.ts';

const valueColumn = (name: string, field: SharedField): CommandColumn<StatusRow> => ({
  name,
  value: ({ values }) => {
    const shared = values[field];
    return shared?.state === 'resolved' ? `${shared.value} (${shared.source})` : shared?.state;
  },
});

/** statusCommand shows the five objects and the values that they share: `bowline ztwim status`. */
export const statusCommand: Command = command({
  name: 'status',
  summary: 'Shows the objects of ZTWIM, and where each shared value comes from. Fails if values are in conflict.',
  cluster: true,
  output: {
    columns: [
      { name: 'Kind', value: ({ kind }: StatusRow) => kind },
      { name: 'Ready', value: ({ ready }) => ready },
      { name: 'Reason', value: ({ reason }) => reason },
      valueColumn('Trust domain', 'trustDomain'),
      valueColumn('Cluster name', 'clusterName'),
      valueColumn('Bundle', 'bundleConfigMap'),
      valueColumn('JWT issuer', 'jwtIssuer'),
      {
        name: 'Conflicts',
        value: ({ conflicts }) =>
          conflicts.length === 0
            ? undefined
            : conflicts
                .map(({ field, kind, value, wanted }) => `${kind}.${field} is "${value}", not "${wanted}"`)
                .join('; '),
      },
    ],
    empty:
      'There is no ZeroTrustWorkloadIdentityManager, and no operand. `kubectl explain ztwim.spec` shows the fields.',
    failure: (rows) => {
      // The ZeroTrustWorkloadIdentityManager uses all values, so its row has all conflicts.
      const conflicts = rows[0]?.conflicts ?? [];
      return conflicts.length === 0 ? undefined : conflictError(conflicts);
    },
  },
  run: async ({ cluster: { client }, signal }) =>
    statusRows(await readLive({ find: (kind, key) => client.find(kind, key, { signal }) })),
});
