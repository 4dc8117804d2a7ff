/** Plan configures how much a run measures. */
export interface Plan {
  /** The requesting pods, each with its own Secret. */
  readonly pods: number;
  readonly rounds: number;
  readonly restartRounds: number;
  /** The pods that are created one after the other while the operator runs, and as many forced syncs. */
  readonly asks: number;
  /** Numbers of pods, ascending, between which growth is measured. */
  readonly growth: readonly number[];
  readonly growthRounds: number;
}

/** fullPlan is used for kept results: within five minutes. */
export const fullPlan: Plan = {
  pods: 1_000,
  rounds: 5,
  restartRounds: 3,
  asks: 50,
  growth: [100, 1_000, 5_000],
  growthRounds: 2,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  pods: 100,
  rounds: 1,
  restartRounds: 1,
  asks: 5,
  growth: [20, 100, 200],
  growthRounds: 1,
};
