import type { IgnitionSyncSpec } from '../../api/ignition-sync.ts';
import { CR_ANNOTATIONS } from '../../api/names.ts';
import { GitError } from '../../git/errors/git-error.ts';
import type { OperationState } from '../../git/source/operation.ts';
import { ProtocolError } from '../../protocol/decode-json.ts';
import { type ChangePart, ChangeRefused, decodeChanges } from '../changes/change-set.ts';
import { maxFileBytes } from '../changes/max-file-bytes.ts';
import type { Forge, PullRequest } from '../forges/forge.ts';
import { type BranchVariables, gatewayBranch } from './gateway-branch.ts';
import { heldPaths } from './held-paths.ts';
import {
  type ChangesResult,
  type ChangeTools,
  type GatewayBranch,
  outstandingChanges,
  processChanges,
  retryHash,
} from './process-changes.ts';

/** ChangingGateway is a gateway that may have changes. */
export interface ChangingGateway extends Pick<BranchVariables, 'labels'> {
  readonly name: string;
  /** Its key in ConfigMaps. */
  readonly key: string;
  readonly podName: string;
}

/** ChangeWork is what an operation of the source of an IgnitionSync gets. */
export interface ChangeWork extends ChangeTools {
  /** forge returns the forge of the repository. It throws PushRefused if there is none. */
  forge(kind: NonNullable<IgnitionSyncSpec['bidirectional']>['forge']): Forge;
}

/** ChangesInput holds what the changes of an IgnitionSync's gateways follow from. */
export interface ChangesInput {
  readonly namespace: string;
  readonly name: string;
  readonly spec: Pick<IgnitionSyncSpec, 'bidirectional' | 'siteNumber'>;
  /** The annotation `retry`; '' if there is none. */
  readonly retry: string;
  /** The commit to roll out. */
  readonly commit: string;
  /** The ref that the IgnitionSync follows. Pull requests have it as their base if it is a branch. */
  readonly ref: string;
  readonly gateways: readonly ChangingGateway[];
  /** The data of the changes ConfigMap. */
  readonly data: Readonly<Record<string, string>>;
  /**
   * run returns the state of an operation of the source, and starts it if necessary; it never waits. `name` identifies the operation, and its
   * first word is its kind. `maxAgeMs` is how old a result may be; undefined: any age.
   */
  run<T>(name: string, maxAgeMs: number | undefined, work: (tools: ChangeWork) => Promise<T>): OperationState<T>;
  /** How often branches are queried again: the polling interval. */
  readonly pollMs: number;
}

/** ChangesEvent is an event about an IgnitionSync. */
export interface ChangesEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'PRCreated' | 'ConflictDetected' | 'ChangesRefused' | 'PushRefused';
  readonly message: string;
}

/** ChangesState is what a run knows about the changes of gateways. */
export interface ChangesState {
  /** The paths in the repository that are not synced, by pod name: `held` of `planRollout`. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  /** Whether `held` is known. If it is not, no gateway may sync another commit: it could overwrite what is in conflict. */
  readonly isHeldKnown: boolean;
  /** The keys to remove from the changes ConfigMap: they are processed, refused, or of gateways that no longer exist. */
  readonly processed: readonly string[];
  /** For BidirectionalReady=False. */
  readonly problem: { readonly reason: string; readonly message: string } | undefined;
  readonly events: readonly ChangesEvent[];
  /** For pull_requests_total: one for each key in `processed` with a pull request, and for each that failed. */
  readonly pullRequests: readonly ('created' | 'updated' | 'failed')[];
  readonly requeueAfterMs: number | undefined;
}

const HEADS = 'refs/heads/';
const NONE: ChangesState = {
  held: new Map(),
  isHeldKnown: true,
  processed: [],
  problem: undefined,
  events: [],
  pullRequests: [],
  requeueAfterMs: undefined,
};

/**
 * followChanges pushes what agents have sent, and decides which paths are not synced because of conflicts. It never waits: it starts
 * operations and returns what is known. Everything that it needs later is in the repository.
 */
export function followChanges(input: ChangesInput): ChangesState {
  const { spec, data } = input;
  if (!spec.bidirectional?.enabled) return { ...NONE, processed: Object.keys(data) };
  const branches = branchesOf(input);
  const pushed = Object.entries(data).map(([key, text]) => pushState(input, branches, key, text));
  const held = heldState(input, branches);
  const states = [...pushed, held];
  return {
    held: held.held,
    isHeldKnown: held.isHeldKnown,
    processed: states.flatMap(({ processed }) => processed),
    problem: branches.problem ?? states.find(({ problem }) => problem)?.problem,
    events: states.flatMap(({ events }) => events),
    pullRequests: states.flatMap(({ pullRequests }) => pullRequests),
    requeueAfterMs: states.reduce<number | undefined>(
      (least, { requeueAfterMs: next }) => (next === undefined ? least : Math.min(least ?? next, next)),
      undefined,
    ),
  };
}

interface PushResult extends ChangesResult {
  /** A pull request is wanted, and the followed ref is no branch. */
  readonly lacksBase: boolean;
}

interface Branches {
  /** By the key of the gateway. */
  readonly byKey: ReadonlyMap<string, GatewayBranch & { readonly podName: string }>;
  readonly problem: ChangesState['problem'];
}

function branchesOf({ namespace, name, spec, gateways }: ChangesInput): Branches {
  const byKey = new Map<string, GatewayBranch & { readonly podName: string }>();
  let problem: ChangesState['problem'];
  for (const { name: gateway, key, podName, labels } of gateways) {
    const variables = { gatewayName: gateway, podName, namespace, siteNumber: spec.siteNumber, labels };
    const rendered = gatewayBranch(spec.bidirectional?.targetBranch ?? '', variables);
    if ('branch' in rendered) byKey.set(key, { namespace, name, gateway, branch: rendered.branch, podName });
    else problem ??= { reason: 'InvalidBranch', message: rendered.problem };
  }
  return { byKey, problem };
}

function pushState(input: ChangesInput, { byKey }: Branches, key: string, text: string): ChangesState {
  const branch = byKey.get(key);
  // Its pod no longer exists; when it returns, its agent sends the changes again.
  if (!branch) return { ...NONE, processed: [key] };
  let part: ChangePart;
  try {
    part = decodeChanges(key, text);
  } catch (error) {
    if (!(error instanceof ChangeRefused || error instanceof ProtocolError)) throw error;
    return refused(key, error.message);
  }
  const { retry, spec, ref } = input;
  const { createPR, prLabels = [], guardrails, forge } = spec.bidirectional ?? {};
  if (!guardrails) return NONE;
  const limits = { maxFileBytes: maxFileBytes(guardrails), maxFiles: guardrails.maxFilesPerPR };
  const name = `push ${branch.branch} ${part.id} ${part.part}/${part.parts} ${retryHash(retry)}`;
  const state = input.run(name, undefined, async (tools) => {
    const base = createPR ? await baseOf(tools, ref) : undefined;
    const pullRequest = base === undefined ? undefined : { forge: tools.forge(forge), base, labels: prLabels };
    const result = await processChanges(tools, { ...branch, part, retry, limits, pullRequest });
    return { ...result, lacksBase: createPR === true && base === undefined };
  });
  if (state.state === 'pending') return NONE;
  if (state.state === 'done') return done(key, branch, state.value);
  if (state.error instanceof ChangeRefused) return refused(key, state.error.message);
  const message = state.error instanceof GitError ? state.error.message : "git failed; see the operator's log";
  const reason = state.error instanceof GitError ? state.error.reason : 'GitFailed';
  const events = reason === 'PushRefused' ? [{ type: 'Warning', reason, message } as const] : [];
  return {
    ...NONE,
    problem: { reason, message },
    events,
    pullRequests: createPR ? ['failed'] : [],
    requeueAfterMs: state.retryAfterMs,
  };
}

function done(key: string, { gateway }: GatewayBranch, result: PushResult | undefined): ChangesState {
  const opened: (PullRequest & { readonly isNew: boolean }) | undefined = result?.pullRequest;
  const message = `opened a pull request with changes of ${gateway}: ${opened?.url ?? ''}`;
  return {
    ...NONE,
    processed: [key],
    problem: result?.lacksBase
      ? { reason: 'NoBaseBranch', message: 'git.ref is no branch, so changes are pushed without a pull request' }
      : undefined,
    events: opened?.isNew ? [{ type: 'Normal', reason: 'PRCreated', message }] : [],
    pullRequests: opened ? [opened.isNew ? 'created' : 'updated'] : [],
  };
}

function refused(key: string, problem: string): ChangesState {
  const message = `changes of the gateway ${key} are not pushed: ${problem}`;
  return { ...NONE, processed: [key], events: [{ type: 'Warning', reason: 'ChangesRefused', message }] };
}

function heldState(input: ChangesInput, { byKey }: Branches): ChangesState {
  const { spec, commit, retry, pollMs, ref, namespace, name } = input;
  const { conflictStrategy: strategy = 'gitWins', createPR, forge: kind } = spec.bidirectional ?? {};
  const branches = [...byKey.values()];
  if (strategy === 'gitWins' || branches.length === 0) return NONE;
  const current = retryHash(retry);
  const names = branches.map(({ branch }) => branch).join(' ');
  const operation = `outstanding ${namespace}/${name} ${commit} ${strategy} ${current} ${names}`;
  const state = input.run(operation, pollMs, async (tools) => {
    const outstanding = await outstandingChanges(tools, branches, commit);
    const held = new Map<string, readonly string[]>();
    for (const { branch, podName } of branches) {
      const { conflicts = [], retry: recorded = '' } = outstanding.get(branch) ?? {};
      if (conflicts.length === 0) continue;
      const base = strategy === 'gatewayWins' && createPR ? await baseOf(tools, ref) : undefined;
      const { signal } = tools.remote;
      // While the forge does not answer, nothing that is in conflict is overwritten.
      const isOpen =
        base === undefined
          ? undefined
          : await tools
              .forge(kind)
              .findOpen(branch, base, signal)
              .then(Boolean, () => true);
      const paths = heldPaths({ strategy, conflicts, origin: { retry: recorded }, retry: current, isOpen });
      if (paths.length > 0) held.set(podName, paths);
    }
    return held;
  });
  const held = state.state === 'done' ? state.value : state.previous;
  const decided = createPR ? 'merge or close the pull request' : 'merge or delete the branch of the gateway';
  const remedy = strategy === 'manual' ? `change the annotation ${CR_ANNOTATIONS.retry} to sync them` : decided;
  const events = [...(held ?? [])].map(([pod, paths]): ChangesEvent => {
    const message = `files were changed on ${pod} and in Git, and are not synced: ${paths.slice(0, 5).join(', ')}; ${remedy}`;
    return { type: 'Warning', reason: 'ConflictDetected', message };
  });
  const failure = state.state === 'failed' && state.error instanceof GitError ? state.error : undefined;
  return {
    ...NONE,
    held: held ?? new Map(),
    isHeldKnown: held !== undefined,
    problem: failure && { reason: failure.reason, message: failure.message },
    events,
    requeueAfterMs: state.state === 'failed' ? state.retryAfterMs : undefined,
  };
}

/** baseOf returns the branch that a ref is. Undefined: it is a tag or a commit. */
async function baseOf({ repository, remote }: ChangeWork, ref: string): Promise<string | undefined> {
  const { name = '' } = (await repository.resolve([ref], remote)).get(ref) ?? {};
  return name.startsWith(HEADS) ? name.slice(HEADS.length) : undefined;
}
