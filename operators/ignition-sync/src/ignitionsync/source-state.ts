import { findCondition } from '@bowline/runtime';
import type { ConditionUpdate } from '@bowline/runtime/writing';
import type { IgnitionSync, IgnitionSyncStatus } from '../api/ignition-sync.ts';
import { GitError } from '../git/errors/git-error.ts';
import type { OperationState } from '../git/source/operation.ts';
import type { RefCommit } from '../rollout/rollout.ts';
import type { SourceRun } from '../source/git-sources.ts';
import type { GitSource } from '../source/source-identity.ts';

/** SourceState is the state of the repository of an IgnitionSync. */
export interface SourceState {
  /** The commit to roll out: the new one, or the last one while there is none. Undefined before the first. */
  readonly target: RefCommit | undefined;
  /** Whether the target was resolved for what is requested now. */
  readonly isCurrent: boolean;
  /** Why the requested ref cannot be rolled out, for the condition Ready; undefined if it can. */
  readonly problem: string | undefined;
  /** Which Secret is missing for gateways. */
  readonly gatewayProblem: string | undefined;
  /** Why the secret of webhooks cannot be used. */
  readonly webhookProblem: string | undefined;
  readonly conditions: readonly ConditionUpdate[];
  readonly fields: Partial<IgnitionSyncStatus>;
  /** The commits of the refs that pods override. */
  readonly overrides: ReadonlyMap<string, string>;
  /** The pinned host keys, as lines of a known_hosts file. */
  readonly knownHosts: string;
  /** How the repository is accessed. Undefined if it is not. */
  readonly access: SourceAccess | undefined;
  readonly requeueAfterMs: number | undefined;
}

/** SourceAccess requests operations of the source. The run of the reconcile has to complete it. */
export interface SourceAccess {
  readonly source: GitSource;
  readonly run: SourceRun;
  readonly trigger: string;
}

/** unchanged returns the state in which everything stays as it was. */
export function unchanged({ status }: IgnitionSync): SourceState {
  const { lastSyncCommit: commit, lastSyncRef: ref } = status ?? {};
  return {
    target: commit === undefined || ref === undefined ? undefined : { ref, commit },
    isCurrent: false,
    problem: undefined,
    gatewayProblem: undefined,
    webhookProblem: undefined,
    conditions: [],
    fields: {},
    overrides: new Map(),
    knownHosts: '',
    access: undefined,
    requeueAfterMs: undefined,
  };
}

/** isFollowed reports whether the last result was for this ref and spec. */
function isFollowed(object: IgnitionSync, ref: string): boolean {
  const { status, metadata } = object;
  const repoCloned = findCondition(object, 'RepoCloned');
  const isJudged = repoCloned !== undefined && repoCloned.reason !== 'Reconciling';
  return (
    isJudged &&
    repoCloned.observedGeneration === metadata?.generation &&
    (status?.lastSyncRef === ref || repoCloned.status === 'False')
  );
}

/** isPublished reports whether agents were told to sync a commit, for this spec. */
export function isPublished(object: IgnitionSync, commit: string): boolean {
  const { status, metadata, spec } = object;
  const isTrue = (type: string): boolean => {
    const condition = findCondition(object, type);
    return condition?.status === 'True' && condition.observedGeneration === metadata?.generation;
  };
  return status?.lastSyncCommit === commit && isTrue('RepoCloned') && (!spec.git.verify || isTrue('SourceVerified'));
}

/** gitFailure returns the state after an operation that failed. */
export function gitFailure(
  state: OperationState<unknown> & { readonly state: 'failed' },
): Pick<SourceState, 'problem' | 'conditions' | 'fields' | 'requeueAfterMs'> {
  return { ...failed('CloneFailed', messageOf(state.error)), requeueAfterMs: state.retryAfterMs };
}

/** failed returns the state of a repository that cannot be read. */
export function failed(reason: string, message: string): Pick<SourceState, 'problem' | 'conditions' | 'fields'> {
  return {
    problem: notCloned(message),
    conditions: [{ type: 'RepoCloned', status: false, reason, message }],
    fields: { repoCloneStatus: 'Error' },
  };
}

/** unverified returns the state of a commit without a trusted signature. The last commit stays. */
export function unverified(last: SourceState, message: string): Pick<SourceState, 'problem' | 'conditions'> {
  const reason = 'VerificationFailed';
  const repoCloned = last.target
    ? cloned(last.target.ref, last.target.commit)
    : { type: 'RepoCloned', status: false, reason, message };
  return { problem: message, conditions: [repoCloned, { type: 'SourceVerified', status: false, reason, message }] };
}

/** waiting returns the state while an operation runs. A poll changes nothing; a new ref or spec is not synced yet. */
export function waiting(object: IgnitionSync, ref: string): Pick<SourceState, 'problem' | 'conditions' | 'fields'> {
  if (isFollowed(object, ref)) return { problem: lastProblem(object), conditions: [], fields: {} };
  const message = `resolving ${ref}`;
  const fields = { repoCloneStatus: 'Cloning' } as const;
  if (object.status?.lastSyncCommit !== undefined) return { problem: message, conditions: [], fields };
  const repoCloned = { type: 'RepoCloned', status: false, reason: 'Reconciling', message };
  return { problem: notCloned(message), conditions: [repoCloned], fields };
}

/** lastProblem returns the problem of the last result, which holds until there is another one. */
function lastProblem(object: IgnitionSync): string | undefined {
  const repoCloned = findCondition(object, 'RepoCloned');
  if (repoCloned?.status === 'False') return notCloned(repoCloned.message);
  const isVerified = findCondition(object, 'SourceVerified');
  return isVerified?.status === 'False' ? isVerified.message : undefined;
}

function notCloned(message: string): string {
  return `Repository not cloned: ${message}`;
}

/** messageOf returns the message of a failure. Messages of other errors may contain text of a server. */
export function messageOf(error: unknown): string {
  return error instanceof GitError ? error.message : "git failed; see the operator's log";
}

/** cloned returns the condition RepoCloned. */
export function cloned(ref: string, commit: string): ConditionUpdate {
  return { type: 'RepoCloned', status: true, reason: 'CloneSucceeded', message: `${ref} is at ${shortCommit(commit)}` };
}

/** verified returns the condition SourceVerified, which exists only if signatures are required. */
export function verified({ git }: GitSource): ConditionUpdate {
  const message = 'the commit is signed by a trusted key';
  return { type: 'SourceVerified', status: git.verify ? true : undefined, reason: 'Verified', message };
}

/** shortCommit returns a commit for messages. */
export function shortCommit(commit: string): string {
  return commit.slice(0, 12);
}
