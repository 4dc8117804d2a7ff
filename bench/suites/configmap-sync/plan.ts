/** Plan configures how much a run measures. */
export interface Plan {
  /** Copies of one source, each in its own namespace. */
  readonly copies: number;
  readonly rounds: number;
  /** ConfigMaps that are not copied. */
  readonly unrelated: number;
  readonly memoryRounds: number;
  /** Numbers of copies, ascending, between which growth is measured. */
  readonly growth: readonly number[];
  readonly growthRounds: number;
  /** Edits of a source with one copy whose propagation is timed. */
  readonly edits: number;
  readonly editRounds: number;
}

/** fullPlan is used for kept results: within ten minutes once the peer is built. */
export const fullPlan: Plan = {
  copies: 1_000,
  rounds: 5,
  unrelated: 10_000,
  memoryRounds: 3,
  growth: [100, 1_000, 5_000],
  growthRounds: 2,
  edits: 200,
  editRounds: 3,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  copies: 100,
  rounds: 1,
  unrelated: 500,
  memoryRounds: 1,
  growth: [20, 100, 200],
  growthRounds: 1,
  edits: 20,
  editRounds: 1,
};
