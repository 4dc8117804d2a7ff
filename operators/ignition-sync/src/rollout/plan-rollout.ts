import { CR_ANNOTATIONS } from '../api/names.ts';
import { stateHashes } from '../protocol/desired-hash.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { type Member, type MemberState, membersOf, stateAt } from './member.ts';
import { prerequisitesOf } from './order-gateways.ts';
import { observePeers, type Peers } from './peers.ts';
import type { Prerequisite, Prerequisites } from './prerequisites.ts';
import type { RefCommit, Rollout, RolloutInput, WaitReason } from './rollout.ts';
import { observeStages, type StageState } from './stage-state.ts';
import { assignStages, type Stage } from './stages.ts';

/** DEFAULT_MAX_PARALLEL is how many gateways are synced at the same time unless the spec sets another number. */
const DEFAULT_MAX_PARALLEL = 25;

/** Wait is why a gateway may not have its commit yet. */
interface Wait {
  readonly reason: WaitReason;
  readonly message: string;
}

/**
 * planRollout returns which commit each gateway may sync now. It is pure, and remembers nothing but the plan that it
 * returned before. A gateway that must wait keeps its commit. Stages and order apply to a new commit; a change of settings
 * or profiles is limited by `maxParallel` only.
 */
export function planRollout(input: RolloutInput): Rollout {
  const members = membersOf(input);
  const stages = assignStages(members, input.deployment);
  const planOf = new Map<string, GatewayPlan>();
  for (const stage of stages) {
    for (const member of stage.members) {
      const healthCheckUrl = member.isApart ? undefined : stage.healthCheckUrl;
      planOf.set(member.podName, { ...member.base, stage: stage.name, healthCheckUrl });
    }
  }
  const progress = new Progress(input, planOf);
  const stageStates = observeStages(stages, input, (member) => progress.stateOf(member));
  const peers = observePeers(members, input);
  const { prerequisites, notes } = prerequisitesOf(stages, input, peers);
  const planner = new Planner(input, { progress, stageStates, prerequisites, peers, members });
  for (const stage of stages) for (const member of planner.inOrder(stage)) planner.plan(member, stage);
  const open = stageStates.find(({ isDone }) => !isDone);
  return {
    plan: planner.result(),
    currentStage: open?.stage.name,
    completedStages: stageStates.filter(({ isDone }) => isDone).flatMap(({ stage }) => stage.name ?? []),
    pendingApproval: open?.needsApproval ? open.stage.name : undefined,
    approvedStages: stageStates.filter(({ isApproved }) => isApproved).flatMap(({ stage }) => stage.name ?? []),
    failure: stageStates.find(({ failure }) => failure !== undefined)?.failure,
    waitingFor: planner.waitingFor,
    unavailablePeers: peers.unavailable,
    notes: [...notes, ...stageStates.flatMap(({ notes: own }) => own)],
    lookAgainMs: earliest([...stageStates.map(({ doneInMs }) => doneInMs), peers.lookAgainMs]),
  };
}

/** Progress knows how far each gateway is with the commit that it should have in the end. */
class Progress {
  readonly #hashOf: ReturnType<typeof stateHashes>;
  readonly #plans: ReadonlyMap<string, GatewayPlan>;
  readonly #states = new Map<string, MemberState>();

  constructor({ metadata }: RolloutInput, plans: ReadonlyMap<string, GatewayPlan>) {
    this.#hashOf = stateHashes(metadata);
    this.#plans = plans;
  }

  planOf({ podName, base }: Member): GatewayPlan {
    return this.#plans.get(podName) ?? base;
  }

  hashOf(member: Member, at: RefCommit): string {
    // There is a hash, because there is a commit.
    return this.#hashOf(this.planOf(member), at) ?? '';
  }

  stateOf(member: Member): MemberState {
    const known = this.#states.get(member.podName);
    if (known !== undefined) return known;
    const { target } = member;
    const state = target === undefined ? 'unreleased' : stateAt(member, this.hashOf(member, target), target.commit);
    this.#states.set(member.podName, state);
    return state;
  }
}

interface PlannerContext {
  readonly progress: Progress;
  readonly stageStates: readonly StageState<Member>[];
  readonly prerequisites: Prerequisites;
  readonly peers: Peers;
  readonly members: readonly Member[];
}

/** Planner decides about one gateway after the other, and counts those that sync. */
class Planner {
  readonly waitingFor = new Set<WaitReason>();
  readonly #input: RolloutInput;
  readonly #context: PlannerContext;
  readonly #byPod: ReadonlyMap<string, Member>;
  readonly #plan: Record<string, GatewayPlan> = {};
  readonly #maxParallel: number;
  #syncing: number;

  constructor(input: RolloutInput, context: PlannerContext) {
    this.#input = input;
    this.#context = context;
    this.#byPod = new Map(context.members.map((member) => [member.podName, member]));
    this.#maxParallel = input.deployment?.maxParallel ?? DEFAULT_MAX_PARALLEL;
    this.#syncing = context.members.filter((member) => !member.isStarting && this.#isSyncing(member)).length;
  }

  /** inOrder returns the gateways of a stage in the order in which they get a place. */
  inOrder({ members }: Stage<Member>): Member[] {
    const order = this.#input.deployment?.syncOrder ?? [];
    const rank = ({ name }: Member): number => {
      const index = order.indexOf(name);
      return index < 0 ? order.length : index;
    };
    return [...members].sort((a, b) => rank(a) - rank(b));
  }

  result(): Record<string, GatewayPlan> {
    return this.#plan;
  }

  plan(member: Member, stage: Stage<Member>): void {
    const { progress, peers } = this.#context;
    const found = this.#waitOf(member, stage);
    const fallback = found && this.#fallbackOf(member, stage);
    // A gateway that starts and never had a commit has nothing that waiting protects, and cannot start without one.
    const wait = member.isStarting && fallback === undefined && found?.reason !== 'ref' ? undefined : found;
    const at = wait === undefined ? member.target : fallback;
    const { name, key, profile, held, stage: stageName, healthCheckUrl } = progress.planOf(member);
    // With up to 400 gateways in each run, a literal is several times faster than spreading parts.
    const planAt = (
      commitAt: RefCommit | undefined,
      released: string | undefined,
      waitingFor?: string,
    ): GatewayPlan => ({
      name,
      key,
      commit: commitAt?.commit,
      ref: commitAt?.ref,
      released,
      waitingFor,
      profile,
      stage: stageName,
      healthCheckUrl,
      stageSyncedAt: member.isApart ? undefined : this.#stageState(stage)?.syncedAt,
      peerMissingSince: peers.missingSince.get(member.podName),
      held,
    });
    const { reason, message } = wait ?? {};
    if (reason !== undefined) this.waitingFor.add(reason);
    if (at === undefined) {
      this.#plan[member.podName] = planAt(undefined, undefined, message);
      return;
    }
    const released = member.isPaused ? undefined : this.#release(member, at);
    if (released !== undefined) {
      this.#plan[member.podName] = planAt(at, released, message);
      return;
    }
    // The gateway keeps what it was released for before. The commit is for an agent without any files.
    if (!member.isPaused) this.waitingFor.add('place');
    const kept = commitOf(member.previous) ?? at;
    const full = `waiting until fewer than ${this.#maxParallel} gateways sync at the same time`;
    this.#plan[member.podName] = planAt(kept, member.previous?.released ?? '', message ?? full);
  }

  /** #release returns the hash of the state that a gateway may sync. Undefined: too many gateways sync. */
  #release(member: Member, at: RefCommit): string | undefined {
    const hash = this.#context.progress.hashOf(member, at);
    if (stateAt(member, hash, at.commit) !== 'unreleased' || member.isStarting) return hash;
    // A gateway that syncs another state has a place already.
    if (this.#isSyncing(member)) return hash;
    if (this.#syncing >= this.#maxParallel) return undefined;
    this.#syncing++;
    return hash;
  }

  /** #isSyncing reports whether a gateway was released for a state that it has not finished with, or reports a sync. */
  #isSyncing({ previous, report }: Member): boolean {
    if (report?.syncStatus === 'Syncing') return true;
    const { released } = previous ?? {};
    if (released === undefined || released === '') return false;
    // An agent that waits for its gateway has done what it can.
    return report?.appliedHash !== released;
  }

  /** #waitOf returns why a gateway may not have its commit. */
  #waitOf(member: Member, stage: Stage<Member>): Wait | undefined {
    const { target, previous, isApart } = member;
    if (target === undefined) {
      return { reason: 'ref', message: 'its annotation ref-override names a ref that was not found; correct it' };
    }
    if (member.isPaused) return { reason: 'paused', message: `its SyncProfile ${member.base.profile} is paused` };
    if (isApart || previous?.commit === target.commit || this.#hasCommit(member)) return undefined;
    return this.#stageWait(stage) ?? this.#peerWait(member) ?? this.#prerequisiteWait(member);
  }

  /** A gateway whose plan was lost keeps the commit that it was allowed to have. */
  #hasCommit(member: Member): boolean {
    return this.#context.progress.stateOf(member) !== 'unreleased';
  }

  #stageWait(stage: Stage<Member>): Wait | undefined {
    const { stageStates } = this.#context;
    const open = stageStates.find(({ isDone }) => !isDone);
    if (open === undefined) return undefined;
    if (open.stage !== stage) return waitForStage(open);
    if (!open.needsApproval) return undefined;
    const { approvedCommit, approvedBy } = CR_ANNOTATIONS;
    const message = `stage ${stage.name} waits for an approval; set the annotations ${approvedCommit} to ${this.#input.metadata.commit} and ${approvedBy}`;
    return { reason: 'approval', message };
  }

  #peerWait({ podName }: Member): Wait | undefined {
    const peer = this.#context.peers.waiting.get(podName);
    if (peer === undefined) return undefined;
    return {
      reason: 'peer',
      message: `waiting for its peer ${peer}, which is not running; after 2 minutes it is synced`,
    };
  }

  #prerequisiteWait({ podName }: Member): Wait | undefined {
    const { prerequisites, progress } = this.#context;
    for (const prerequisite of prerequisites.get(podName) ?? []) {
      const needed = this.#byPod.get(prerequisite.podName);
      if (needed === undefined || progress.stateOf(needed) === 'synced') continue;
      return waitForGateway(prerequisite, needed.name);
    }
    return undefined;
  }

  #stageState(stage: Stage<Member>): StageState<Member> | undefined {
    return this.#context.stageStates.find((each) => each.stage === stage);
  }

  /** #fallbackOf returns the commit of a gateway that has to wait: its own, or for a new one that of its stage. */
  #fallbackOf({ previous, target }: Member, stage: Stage<Member>): RefCommit | undefined {
    const own = commitOf(previous);
    if (own !== undefined) return own;
    const { metadata, lastSynced } = this.#input;
    const ofStage = stage.members.map((each) => (each.isApart ? undefined : commitOf(each.previous)));
    return [...ofStage, lastSynced].find((each) => each !== undefined && each.commit !== (target ?? metadata).commit);
  }
}

function commitOf(plan: GatewayPlan | undefined): RefCommit | undefined {
  return plan?.commit === undefined ? undefined : { commit: plan.commit, ref: plan.ref ?? '' };
}

function waitForStage({ stage, failure, doneInMs }: StageState<Member>): Wait {
  if (failure !== undefined) return { reason: 'stageFailed', message: `stage ${stage.name} failed` };
  if (doneInMs !== undefined)
    return { reason: 'postSyncWait', message: `waiting for the end of postSyncWait of stage ${stage.name}` };
  return { reason: 'stage', message: `waiting for stage ${stage.name}` };
}

const WAITS: Readonly<Record<Prerequisite['kind'], (name: string) => string>> = {
  peer: (name) => `waiting for its peer ${name}`,
  dependency: (name) => `waiting for gateway ${name}, whose profile its own depends on`,
  order: (name) => `waiting for gateway ${name}, which is before it in deployment.syncOrder`,
};

function waitForGateway({ kind }: Prerequisite, name: string): Wait {
  return { reason: kind, message: WAITS[kind](name) };
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
