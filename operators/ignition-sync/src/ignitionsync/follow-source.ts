import { keyString } from '@bowline/kubernetes';
import { between, parseDuration } from '@bowline/machinery';
import { CR_ANNOTATIONS } from '../api/names.ts';
import { parseGitUrl } from '../git/address/git-url.ts';
import { GitError } from '../git/errors/git-error.ts';
import { type ResolvedRef, refNotFound } from '../git/repository/resolve-refs.ts';
import type { OperationState } from '../git/source/operation.ts';
import type { SyncMetadata } from '../protocol/metadata.ts';
import type { SourceRun } from '../source/git-sources.ts';
import { type GitSource, isPinning } from '../source/source-identity.ts';
import { checkSecrets } from './check-secrets.ts';
import { hostKeyCondition, pinnedFields, restorePins } from './pinned-host-keys.ts';
import { endRequest, requestOf, syncTrigger } from './requested-ref.ts';
import {
  cloned,
  failed,
  gitFailure,
  isPublished,
  messageOf,
  type SourceState,
  shortCommit,
  unchanged,
  unverified,
  verified,
  waiting,
} from './source-state.ts';
import type { SyncContext } from './sync-controller.ts';

/** The delay after which a started operation is looked at, in case its end was not noticed. */
const OPERATION_CHECK_MS = 5_000;
/** No watch reports that a missing Secret was created. */
const SECRET_CHECK_MS = { min: 10_000, max: 30_000 };
/** GitHub App tokens are renewed this long before they expire. */
const RENEW_BEFORE_MS = 300_000;

/**
 * followSource resolves the ref to a commit, fetches and verifies it. It waits for nothing: it starts operations, and the end of
 * each causes another run. The caller completes the run of the returned access.
 */
export async function followSource(
  context: SyncContext,
  { overrideRefs, stored }: { readonly overrideRefs: readonly string[]; readonly stored: SyncMetadata | undefined },
): Promise<SourceState> {
  const { key, deps, object } = context;
  const user = keyString(key);
  const requested = requestOf(object);
  if (requested.ended !== undefined) await endRequest(context, requested.ended);
  const { ref } = requested;
  const stopped = (problem: string, reason: string, more: Partial<SourceState> = {}): SourceState => {
    deps.sources.release(user);
    return { ...unchanged(context.object), ...failed(reason, problem), ...more };
  };
  if (object.spec.git.auth?.githubApp && !deps.config.githubApps) {
    const problem =
      'spec.git.auth.githubApp is not allowed; set githubApps in the configuration of the operator, or use a token';
    return stopped(problem, 'GitHubAppsDisabled');
  }
  const { source, digest, problem, gatewayProblem, webhookProblem } = await checkSecrets(context);
  if (!source) {
    const requeueAfterMs = between(deps.random, SECRET_CHECK_MS.min, SECRET_CHECK_MS.max);
    return stopped(problem ?? 'a Secret is missing', 'CloneFailed', { requeueAfterMs, webhookProblem });
  }
  restorePins(context, source, stored);
  const run = deps.sources.begin(user);
  const isRequested = requested.request !== undefined;
  const request = { ref, isRequested, trigger: triggerOf(context, digest), source, run };
  const { main, overrides } = resolveAll(context, request, { overrideRefs, stored });
  const waitsForSecret = gatewayProblem !== undefined || webhookProblem !== undefined;
  const checkAgainMs = waitsForSecret ? between(deps.random, SECRET_CHECK_MS.min, SECRET_CHECK_MS.max) : undefined;
  return {
    ...main,
    conditions: [...main.conditions, hostKeyCondition(context)],
    fields: { ...main.fields, ...pinnedFields(context, source), request: requested.request },
    gatewayProblem,
    webhookProblem,
    overrides,
    knownHosts: isPinning(source.git) ? deps.sources.pinsOf(source).join('\n') : '',
    access: { source, run, trigger: request.trigger },
    requeueAfterMs: earliest([main.requeueAfterMs, checkAgainMs, renewalDelay(context, source)]),
  };
}

interface Request {
  readonly ref: string;
  /** Whether an annotation requests the ref; otherwise it is spec.git.ref. */
  readonly isRequested: boolean;
  readonly trigger: string;
  readonly source: GitSource;
  readonly run: SourceRun;
}

/** resolveAll resolves the ref of the IgnitionSync and those that pods override, with one operation. */
function resolveAll(
  context: SyncContext,
  request: Request,
  { overrideRefs, stored }: { readonly overrideRefs: readonly string[]; readonly stored: SyncMetadata | undefined },
): { readonly main: SourceState; readonly overrides: ReadonlyMap<string, string> } {
  const { ref, source, run, trigger } = request;
  const settled = settledSource(context, request, stored);
  if (settled && overrideRefs.length === 0) return { main: settled, overrides: new Map() };
  const resolution = run.resolve({
    source,
    refs: [...new Set([ref, ...overrideRefs])],
    trigger,
    maxAgeMs: maxAgeMs(context, source),
  });
  const known = resolution.state === 'done' ? resolution.value : resolution.previous;
  return {
    main: settled ?? stateOf(context, request, resolution),
    overrides: resolveOverrides(request, known, overrideRefs),
  };
}

/**
 * settledSource returns the state of an IgnitionSync without polling whose last request was done. It must not follow the polls of
 * others with the same source.
 */
function settledSource(
  context: SyncContext,
  { ref, source }: Request,
  stored: SyncMetadata | undefined,
): SourceState | undefined {
  const { object, deps } = context;
  const last = unchanged(context.object);
  if (object.spec.polling.enabled || !last.target || last.target.ref !== ref) return undefined;
  const isExpiring =
    isTokenExpiring(context, source) || (object.spec.git.auth?.githubApp && !deps.sources.appToken(source));
  const isHandled = stored?.trigger === syncTrigger(object.metadata?.annotations);
  if (isExpiring || !isHandled || !isPublished(context.object, last.target.commit)) return undefined;
  const conditions = [cloned(ref, last.target.commit), verified(source)];
  return { ...last, isCurrent: true, conditions, fields: { repoCloneStatus: 'Cloned' } };
}

/** pausedSource returns the state of a repository of which nothing is fetched. */
export function pausedSource(context: SyncContext, stored: SyncMetadata | undefined): SourceState {
  context.deps.sources.release(keyString(context.key));
  return { ...unchanged(context.object), knownHosts: stored?.knownHosts ?? '' };
}

/** stateOf returns the state of the ref of the IgnitionSync. */
function stateOf(
  context: SyncContext,
  request: Request,
  resolution: OperationState<ReadonlyMap<string, ResolvedRef>>,
): SourceState {
  const { ref, isRequested, source, run, trigger } = request;
  const last = unchanged(context.object);
  const pending = (): SourceState => ({ ...last, ...waiting(context.object, ref), requeueAfterMs: OPERATION_CHECK_MS });
  if (resolution.state === 'pending') return pending();
  if (resolution.state === 'failed') return { ...last, ...gitFailure(resolution) };
  const resolved = resolution.value?.get(ref);
  const requeueAfterMs = context.object.spec.polling.enabled ? resolution.dueAfterMs : undefined;
  if (!resolved) {
    const { host } = parseGitUrl(source.git.repo, { allowPlainHttp: true });
    const correction = isRequested ? `remove the annotation ${CR_ANNOTATIONS.requestedRef}` : undefined;
    return { ...last, ...failed('CloneFailed', refNotFound(host, ref, correction).message), requeueAfterMs };
  }
  const { commit } = resolved;
  const done: SourceState = {
    ...last,
    target: { ref, commit },
    isCurrent: true,
    problem: undefined,
    conditions: [cloned(ref, commit), verified(source)],
    fields: { repoCloneStatus: 'Cloned' },
    requeueAfterMs,
  };
  // A commit that was published needs no fetch, also after a restart.
  if (isPublished(context.object, commit)) return done;
  const fetched = run.fetch(source, resolved, trigger);
  if (fetched.state === 'done') return done;
  if (fetched.state === 'pending') return pending();
  // The delays of a commit that fails grow, but a later commit may arrive with the next poll.
  const retry = { requeueAfterMs: earliest([fetched.retryAfterMs, requeueAfterMs]) };
  const isUnverified = fetched.error instanceof GitError && fetched.error.reason === 'VerificationFailed';
  if (!isUnverified) return { ...last, ...gitFailure(fetched), ...retry };
  const message = `${ref} is at ${shortCommit(commit)}: ${messageOf(fetched.error)}`;
  return { ...last, ...unverified(last, message), ...retry };
}

/** resolveOverrides returns the commits of the refs that pods override; those of unverified commits are missing. */
function resolveOverrides(
  { source, run, trigger }: Request,
  known: ReadonlyMap<string, ResolvedRef> | undefined,
  refs: readonly string[],
): ReadonlyMap<string, string> {
  const commits = refs.flatMap((ref) => {
    const resolved = known?.get(ref);
    if (!resolved) return [];
    // Agents fetch by themselves; only the signature has to be verified here.
    if (source.git.verify && run.fetch(source, resolved, trigger).state !== 'done') return [];
    return [[ref, resolved.commit] as const];
  });
  return new Map(commits);
}

/** triggerOf changes whenever an earlier result does not count any more. */
function triggerOf({ object, deps }: SyncContext, secrets: string): string {
  const { generation, annotations = {} } = object.metadata ?? {};
  const { requestedAt, requestedCommit, retry } = CR_ANNOTATIONS;
  const requests = [requestedAt, requestedCommit, retry].map((name) => annotations[name] ?? '');
  return deps.sources.identities.digest([generation, requests, secrets]);
}

function maxAgeMs(context: SyncContext, source: GitSource): number {
  return isTokenExpiring(context, source) ? 0 : parseDuration(context.object.spec.polling.interval);
}

function isTokenExpiring({ deps, clock }: SyncContext, source: GitSource): boolean {
  const token = deps.sources.appToken(source);
  return token !== undefined && token.expiresAtMs - clock.now() <= RENEW_BEFORE_MS;
}

function renewalDelay({ deps, clock }: SyncContext, source: GitSource): number | undefined {
  const token = deps.sources.appToken(source);
  return token && Math.max(OPERATION_CHECK_MS, token.expiresAtMs - clock.now() - RENEW_BEFORE_MS);
}

function earliest(delays: readonly (number | undefined)[]): number | undefined {
  const known = delays.filter((delay) => delay !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
