import { ConfigMap, keyString, type ObjectKey } from '@bowline/kubernetes';
import { SelfSubjectReview } from '@bowline/kubernetes/authentication-v1';
import { BowlineError, command, findCondition } from '@bowline/runtime';
import type { Client } from '@bowline/runtime/client';
import type { Command } from '@bowline/runtime/manager';
import { s } from '@bowline/runtime/resource';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { parseKey } from './parse-key.ts';

/** Approval is what was approved. */
interface Approval {
  readonly sync: string;
  readonly commit: string;
  readonly approvedBy: string;
}

const options = s.object({
  commit: s
    .string()
    .pattern('^[0-9a-f]{40,64}$')
    .describe('The commit to approve, with all its digits. Defaults to the one that waits.')
    .optional(),
  by: s.string().minLength(1).maxLength(253).describe('Who approves. Defaults to your user in the cluster.').optional(),
});

/** approveCommand is `bowline ignition-sync approve`. */
export const approveCommand: Command = command({
  name: 'approve',
  summary: 'Approves the commit that the next stage of a rollout waits for.',
  args: { sync: { summary: 'the IgnitionSync', example: 'NAMESPACE/NAME' } },
  options,
  cluster: true,
  output: {
    columns: [
      { name: 'IgnitionSync', value: ({ sync }: Approval) => sync },
      { name: 'Approved', value: ({ commit }) => commit },
      { name: 'By', value: ({ approvedBy }) => approvedBy },
    ],
  },
  run: async ({ args, options: { commit, by }, cluster: { client }, signal }) => {
    const key = parseKey(args.sync);
    const sync = await client.get(IgnitionSync, key, { signal });
    const pending = findCondition(sync, 'PendingApproval');
    if (pending?.status !== 'True') throw refused(key, 'no stage waits for an approval');
    const waiting = await waitingCommit(client, key, signal);
    if (commit !== undefined && commit !== waiting) throw refused(key, `the commit that waits is ${waiting}`);
    const approvedBy = by ?? (await userOf(client, signal));
    const annotations = { [CR_ANNOTATIONS.approvedCommit]: waiting, [CR_ANNOTATIONS.approvedBy]: approvedBy };
    await client.patch(IgnitionSync, key, { type: 'merge', body: { metadata: { annotations } } }, { signal });
    return { sync: keyString(key), commit: waiting, approvedBy };
  },
});

/** The metadata of the agents has the commit of the rollout, with all its digits. */
async function waitingCommit(client: Client, key: Required<ObjectKey>, signal: AbortSignal): Promise<string> {
  const { namespace, name } = key;
  const metadata = await client.find(ConfigMap, { namespace, name: objectNames(name).metadata }, { signal });
  const commit = metadata?.data?.commit;
  if (!commit) throw refused(key, `the ConfigMap ${objectNames(name).metadata} has no commit`);
  return commit;
}

async function userOf(client: Client, signal: AbortSignal): Promise<string> {
  const { status } = await client.create(SelfSubjectReview, {}, { signal });
  const user = status?.userInfo?.username;
  if (user) return user;
  throw new BowlineError('BOWLINE_ARGUMENT_INVALID', 'the cluster does not return your user; pass --by NAME');
}

function refused(key: ObjectKey, problem: string): BowlineError {
  return new BowlineError('BOWLINE_NOTHING_TO_APPROVE', `cannot approve a commit of ${keyString(key)}: ${problem}`);
}
