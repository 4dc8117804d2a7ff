import { ConfigMap, keyString, type ObjectKey } from '@bowline/kubernetes';
import { BowlineError, command } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { Command } from '@bowline/runtime/manager';
import { objectNames } from '../api/names.ts';
import { decodeReport } from '../protocol/gateway-report.ts';
import { decodeMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { parseKey } from './parse-key.ts';

/** GatewayDiff is what a sync would change on a gateway. */
interface GatewayDiff {
  readonly gateway: string;
  readonly pod: string;
  /** What the gateway has. Undefined: nothing yet. */
  readonly from: string | undefined;
  /** What it may sync. Undefined: it keeps what it has. */
  readonly to: string | undefined;
  readonly added: number;
  readonly modified: number;
  readonly deleted: number;
}

const SHORT = 12;

/** diffCommand is `bowline ignition-sync diff`. */
export const diffCommand: Command = command({
  name: 'diff',
  summary: 'Shows what a sync would change on a gateway, as its agent reports it.',
  args: {
    sync: { summary: 'the IgnitionSync', example: 'NAMESPACE/NAME' },
    gateway: { summary: 'the gateway, by its name or the name of its pod', example: 'site' },
  },
  cluster: true,
  output: {
    columns: [
      { name: 'Gateway', value: ({ gateway }: GatewayDiff) => gateway },
      { name: 'Pod', value: ({ pod }) => pod },
      { name: 'From', value: ({ from }) => from?.slice(0, SHORT) },
      { name: 'To', value: ({ to }) => to?.slice(0, SHORT) },
      { name: 'Added', value: ({ added }) => String(added) },
      { name: 'Modified', value: ({ modified }) => String(modified) },
      { name: 'Deleted', value: ({ deleted }) => String(deleted) },
    ],
  },
  run: async ({ args, cluster: { client }, signal }) => {
    const key = parseKey(args.sync);
    const names = objectNames(key.name);
    const { plan } = decodeMetadata(await dataOf(client, key, names.metadata, signal));
    const reports = await dataOf(client, key, names.status, signal);
    const found = Object.entries(plan).filter(([pod, { name }]) => name === args.gateway || pod === args.gateway);
    if (found.length === 0) throw unknownGateway(key, args.gateway, plan);
    return found.map(([pod, gateway]) => diffOf(key, pod, gateway, reports));
  },
});

async function dataOf(
  client: Client,
  key: Required<ObjectKey>,
  name: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const found = await client.find(ConfigMap, { namespace: key.namespace, name }, { signal });
  if (found !== undefined) return found.data ?? {};
  throw new BowlineError(
    'BOWLINE_DIFF_UNAVAILABLE',
    `cannot compare the gateways of ${keyString(key)}: it has no ConfigMap ${name}; check that the IgnitionSync exists and that its ref was resolved`,
  );
}

function diffOf(
  key: ObjectKey,
  pod: string,
  { name, key: reportKey, commit }: GatewayPlan,
  reports: Readonly<Record<string, string>>,
): GatewayDiff {
  const text = reports[reportKey];
  const { syncedCommit, dryRun } = text === undefined ? {} : decodeReport(reportKey, text);
  if (dryRun !== undefined) return { gateway: name, pod, from: syncedCommit, to: commit, ...dryRun };
  // A gateway that has the commit has nothing to report.
  if (commit !== undefined && syncedCommit === commit) {
    return { gateway: name, pod, from: syncedCommit, to: commit, added: 0, modified: 0, deleted: 0 };
  }
  throw new BowlineError(
    'BOWLINE_DIFF_UNAVAILABLE',
    `the agent of the gateway ${name} of ${keyString(key)} reports no dry run; set validation.dryRunBefore of the IgnitionSync, or dryRun of the SyncProfile`,
  );
}

function unknownGateway(key: ObjectKey, wanted: string, plan: Readonly<Record<string, GatewayPlan>>): BowlineError {
  const known = Object.values(plan).map(({ name }) => name);
  const list = known.length === 0 ? 'it has none' : `it has ${[...new Set(known)].sort().slice(0, 20).join(', ')}`;
  return new BowlineError('BOWLINE_ARGUMENT_INVALID', `${keyString(key)} has no gateway "${wanted}"; ${list}`);
}
