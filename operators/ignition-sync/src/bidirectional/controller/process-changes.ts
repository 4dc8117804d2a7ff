import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { GitError } from '../../git/errors/git-error.ts';
import { createCommit, pushBranch, readMessage } from '../../git/repository/change-branch.ts';
import type { GitRepository, RemoteOptions } from '../../git/repository/git-repository.ts';
import type { GitRunner } from '../../git/runner/git-runner.ts';
import { type ChangePart, ChangeRefused, contentOf } from '../changes/change-set.ts';
import type { Forge, PullRequest } from '../forges/forge.ts';
import { changeMessage, parseChangeMessage } from './change-message.ts';
import { type BranchHead, decidePush } from './decide-push.ts';
import { conflictsBetween, type PathChange } from './held-paths.ts';

/** GatewayBranch is the branch with the changes of one gateway. */
export interface GatewayBranch {
  /** The IgnitionSync. */
  readonly namespace: string;
  readonly name: string;
  /** The name of the gateway. */
  readonly gateway: string;
  /** The rendered `bidirectional.targetBranch`. */
  readonly branch: string;
}

/** ChangeTools is what reading and writing branches needs. */
export interface ChangeTools {
  readonly runner: GitRunner;
  readonly repository: GitRepository;
  readonly remote: RemoteOptions;
}

/** ChangesRequest is a part of the changes of a gateway that is pushed. */
export interface ChangesRequest extends GatewayBranch {
  readonly part: ChangePart;
  /** The annotation `retry` of the IgnitionSync; '' if there is none. */
  readonly retry: string;
  readonly limits: { readonly maxFileBytes: number; readonly maxFiles: number };
  /** Undefined: no pull request is opened. */
  readonly pullRequest?:
    | { readonly forge: Forge; readonly base: string; readonly labels: readonly string[] }
    | undefined;
}

/** ChangesResult is what happened to a part. Its key can be removed from the ConfigMap. */
export interface ChangesResult {
  readonly outcome: 'pushed' | 'unchanged';
  readonly branch: string;
  readonly pullRequest?: (PullRequest & { readonly isNew: boolean }) | undefined;
}

/** OutstandingChanges are changes of a gateway that are on its branch. */
export interface OutstandingChanges {
  /** The paths that Git changed, too. */
  readonly conflicts: readonly string[];
  /** See `ChangeOrigin`. */
  readonly retry: string;
}

/**
 * processChanges pushes a part of the changes of a gateway to its branch, and opens a pull request after the last part unless one is
 * open. It can be repeated: what is done is not done again. It throws ChangeRefused for content that must not be pushed, and
 * PushRefused if the server or the branch does not allow it.
 */
export async function processChanges(tools: ChangeTools, request: ChangesRequest): Promise<ChangesResult> {
  const { part, branch, pullRequest } = request;
  const outcome = await push(tools, request);
  if (!pullRequest || part.part < part.parts) return { outcome, branch };
  const { forge, base, labels } = pullRequest;
  const { signal } = tools.remote;
  const found = await forge.findOpen(branch, base, signal);
  if (found) return { outcome, branch, pullRequest: { ...found, isNew: false } };
  const opened = await forge.open({ branch, base, labels, ...descriptionOf(request) }, signal);
  return { outcome, branch, pullRequest: { ...opened, isNew: true } };
}

/**
 * outstandingChanges returns the changes on the branches of gateways, compared with a commit, by branch. A branch without changes of its
 * gateway has no entry. All branches are queried at once.
 */
export async function outstandingChanges(
  tools: ChangeTools,
  branches: readonly GatewayBranch[],
  commit: string,
): Promise<ReadonlyMap<string, OutstandingChanges>> {
  const { repository, remote } = tools;
  const heads = await headsOf(
    tools,
    branches.map(({ branch }) => branch),
  );
  const outstanding = new Map<string, OutstandingChanges>();
  for (const each of branches) {
    const head = heads.get(each.branch);
    if (!head?.origin || head.origin.owner !== ownerOf(each)) continue;
    const { commit: base, retry } = head.origin;
    let conflicts: readonly string[] = [];
    if (base !== commit) {
      for (const wanted of [base, commit]) await repository.fetchCommit({ commit: wanted }, remote);
      const onGateway = await changesBetween(tools, base, head.commit);
      conflicts = conflictsBetween(onGateway, await changesBetween(tools, base, commit));
    }
    outstanding.set(each.branch, { conflicts, retry });
  }
  return outstanding;
}

/** retryHash returns the annotation `retry` of an IgnitionSync as commits record it. */
export function retryHash(retry: string): string {
  return createHash('sha256').update(retry).digest('hex').slice(0, 16);
}

async function push(tools: ChangeTools, request: ChangesRequest): Promise<ChangesResult['outcome']> {
  const { runner, repository, remote } = tools;
  const { part, branch, limits, gateway, namespace, retry } = request;
  if (part.files.length > limits.maxFiles)
    throw new ChangeRefused(`${gateway} sent ${part.files.length} files, and at most ${limits.maxFiles} are allowed`);
  const changes = part.files.map((file) => ({
    path: file.path,
    content: contentOf(file, limits.maxFileBytes),
    isExecutable: file.isExecutable ?? false,
  }));
  const owner = ownerOf(request);
  const head = (await headsOf(tools, [branch])).get(branch);
  const decision = decidePush(head, owner, part);
  if (decision.kind === 'done') return 'unchanged';
  if (decision.kind === 'taken') throw taken(branch, remote.connection.host);
  if (decision.kind === 'incomplete')
    throw new ChangeRefused(
      `the parts before part ${part.part} are not on the branch ${branch}; restart the agent to send all`,
    );
  await repository.fetchCommit({ commit: part.commit }, remote);
  const commit = await createCommit(
    runner,
    repository.folder,
    {
      parent: decision.parent,
      changes,
      message: changeMessage({ ...part, owner, retry: retryHash(retry) }),
      author: { name: gateway, email: `ignition-sync@${namespace}` },
      time: Math.floor((Date.parse(part.timestamp) || 0) / 1_000),
    },
    remote.signal,
  );
  const changed = await changesBetween(tools, decision.parent, commit);
  // Git already has what the gateway has.
  if (changed.length === 0 && part.parts === 1) return 'unchanged';
  // A gateway that has synced another commit sends what it has kept again. On top of that commit, it would no longer be a conflict.
  if (head?.origin && part.parts === 1 && retryHash(retry) === head.origin.retry) {
    const before = await changesBetween(tools, head.origin.commit, head.commit);
    if (isDeepStrictEqual(changed, before)) return 'unchanged';
  }
  await pushBranch(runner, repository.folder, { ...remote, commit, branch, expected: decision.expected });
  return 'pushed';
}

async function headsOf(
  { runner, repository, remote }: ChangeTools,
  branches: readonly string[],
): Promise<ReadonlyMap<string, BranchHead>> {
  const heads = new Map<string, BranchHead>();
  if (branches.length === 0) return heads;
  const refOf = (branch: string): string => `refs/heads/${branch}`;
  const resolved = await repository.resolve(branches.map(refOf), remote);
  for (const branch of branches) {
    const name = refOf(branch);
    const { commit } = resolved.get(name) ?? {};
    if (commit === undefined) continue;
    await repository.fetchCommit({ commit, name }, remote);
    const message = await readMessage(runner, repository.folder, commit, remote.signal);
    heads.set(branch, { commit, origin: parseChangeMessage(message) });
  }
  return heads;
}

async function changesBetween(
  { repository, remote }: ChangeTools,
  from: string,
  to: string,
): Promise<readonly PathChange[]> {
  const changes: PathChange[] = [];
  for await (const { path, after } of repository.diff(from, to, [], remote.signal))
    changes.push({ path, hash: after?.hash });
  return changes;
}

function ownerOf({ namespace, name, gateway }: GatewayBranch): string {
  // A name must not end a trailer.
  return `${namespace}/${name}/${gateway.replace(/[^\x20-\x7e]/g, '_')}`;
}

function descriptionOf({ namespace, name, gateway, part }: ChangesRequest): { title: string; body: string } {
  const printable = gateway.replace(/[^\x20-\x7e]/g, '_');
  return {
    title: `Changes of the gateway ${printable}`,
    body: [
      `Files were changed on the gateway ${printable} of the IgnitionSync ${namespace}/${name}.`,
      `The gateway had the commit ${part.commit}.`,
      '',
      'Later changes of the same gateway replace the content of this branch.',
    ].join('\n'),
  };
}

function taken(branch: string, host: string): GitError {
  return new GitError('PushRefused', `the branch ${branch} has commits that are not changes of this gateway`, {
    host,
    remedy: 'merge and delete the branch, or change bidirectional.targetBranch',
  });
}
