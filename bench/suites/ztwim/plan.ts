/** Plan configures how much a run measures. */
export interface Plan {
  /** The processes in which everything is installed, once just after the start. */
  readonly installRounds: number;
  /** How often everything is deleted and installed again in each of them. */
  readonly reinstalls: number;
  readonly cascadeRounds: number;
  /** The changes of the cluster name in each round. */
  readonly changes: number;
  /** The updates of an annotation that no rule reads. */
  readonly updates: number;
  readonly restartRounds: number;
  /** How often everything is deleted without pods, and with pods. */
  readonly deletions: number;
  readonly podDeletions: number;
  readonly memoryRounds: number;
  /** Objects of users. */
  readonly configMaps: number;
  readonly pods: number;
  readonly clusterSpiffeIds: number;
  readonly reviewRounds: number;
  /** The admission reviews that are timed in each round. */
  readonly reviews: number;
  readonly startRounds: number;
}

/** fullPlan is used for kept results. */
export const fullPlan: Plan = {
  installRounds: 5,
  reinstalls: 3,
  cascadeRounds: 3,
  changes: 40,
  updates: 1_000,
  restartRounds: 5,
  deletions: 30,
  podDeletions: 3,
  memoryRounds: 3,
  configMaps: 10_000,
  pods: 5_000,
  clusterSpiffeIds: 5_000,
  reviewRounds: 3,
  reviews: 3_000,
  startRounds: 3,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  installRounds: 1,
  reinstalls: 1,
  cascadeRounds: 1,
  changes: 3,
  updates: 50,
  restartRounds: 1,
  deletions: 2,
  podDeletions: 1,
  memoryRounds: 1,
  configMaps: 200,
  pods: 100,
  clusterSpiffeIds: 100,
  reviewRounds: 1,
  reviews: 300,
  startRounds: 1,
};
