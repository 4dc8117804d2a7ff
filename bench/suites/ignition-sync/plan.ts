/** RepositorySize is the size of a repository. */
export interface RepositorySize {
  readonly files: number;
  /** In megabytes (10^6 bytes). */
  readonly megabytes: number;
}

/** Plan configures how much a run measures. */
export interface Plan {
  readonly repository: RepositorySize;
  /** The repository with which the growth of memory is measured. */
  readonly largeRepository: RepositorySize;
  readonly firstSyncRounds: number;
  readonly memoryRounds: number;
  /** The commits that change one file, and those that change nothing for the gateway. */
  readonly commits: number;
  /** How long an agent is idle while its processor time is measured. */
  readonly idleMs: number;
  /** Numbers of gateways, ascending. */
  readonly gateways: readonly [few: number, many: number, most: number];
  readonly rolloutRounds: number;
  /** The IgnitionSyncs that share a source, and the number of intervals in which git calls are counted. */
  readonly sharedSyncs: number;
  readonly pollIntervals: number;
  /** The requests to the receiver that are timed. */
  readonly posts: number;
  readonly startRounds: number;
}

/** fullPlan is used for kept results. */
export const fullPlan: Plan = {
  repository: { files: 2_000, megabytes: 200 },
  largeRepository: { files: 2_000, megabytes: 1_000 },
  firstSyncRounds: 3,
  memoryRounds: 2,
  commits: 9,
  idleMs: 60_000,
  gateways: [10, 100, 200],
  rolloutRounds: 2,
  sharedSyncs: 100,
  pollIntervals: 8,
  posts: 100,
  startRounds: 3,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  repository: { files: 200, megabytes: 10 },
  largeRepository: { files: 200, megabytes: 30 },
  firstSyncRounds: 1,
  memoryRounds: 1,
  commits: 2,
  idleMs: 3_000,
  gateways: [3, 10, 30],
  rolloutRounds: 1,
  sharedSyncs: 5,
  pollIntervals: 2,
  posts: 3,
  startRounds: 1,
};
