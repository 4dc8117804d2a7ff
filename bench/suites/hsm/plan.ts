/** Plan configures how much a run measures. */
export interface Plan {
  /** The discovery pods, each with one device. */
  readonly pods: number;
  readonly reportRounds: number;
  /** The reports of `pods` that are repeated without a change. */
  readonly heartbeats: number;
  /** The first of them, which are also sent to measure growth, and those before, in which V8 compiles hot code. */
  readonly growthHeartbeats: number;
  readonly warmUpHeartbeats: number;
  /** Numbers of pods, ascending, between which growth is measured. `pods` is one of them. */
  readonly growth: readonly number[];
  readonly growthRounds: number;
  readonly secrets: number;
  readonly secretRounds: number;
  /** The sync intervals during which nothing changes. */
  readonly intervals: number;
  readonly restartRounds: number;
  /** How often the secret on SoftHSM2 is read, in each round. */
  readonly reads: number;
  readonly readRounds: number;
  readonly idleRounds: number;
  /** How long a process rests before its idle memory is read. */
  readonly idleMs: number;
  /** Pods that have nothing to do with the operator. */
  readonly unrelatedPods: number;
  readonly memoryRounds: number;
}

/** fullPlan is used for kept results: about six minutes. */
export const fullPlan: Plan = {
  pods: 500,
  reportRounds: 3,
  heartbeats: 6_000,
  growthHeartbeats: 1_500,
  warmUpHeartbeats: 500,
  growth: [100, 500, 2_000],
  growthRounds: 2,
  secrets: 200,
  secretRounds: 3,
  intervals: 4,
  restartRounds: 2,
  reads: 500,
  readRounds: 3,
  idleRounds: 2,
  idleMs: 10_000,
  unrelatedPods: 10_000,
  memoryRounds: 2,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  pods: 50,
  reportRounds: 1,
  heartbeats: 500,
  growthHeartbeats: 200,
  warmUpHeartbeats: 100,
  growth: [20, 50, 100],
  growthRounds: 1,
  secrets: 20,
  secretRounds: 1,
  intervals: 1,
  restartRounds: 1,
  reads: 50,
  readRounds: 1,
  idleRounds: 1,
  idleMs: 1_000,
  unrelatedPods: 200,
  memoryRounds: 1,
};
