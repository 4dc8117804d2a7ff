/** Plan configures how much a run measures. */
export interface Plan {
  /** Objects in the cold sync. */
  readonly objects: number;
  readonly syncRounds: number;
  /** Rounds of the whole operator on the same objects. */
  readonly operatorRounds: number;
  /** Events replayed to each subject of the event rate. */
  readonly events: number;
  readonly eventRounds: number;
  /** The updates whose delivery to the reconcile is timed, and how many of them are sent per second. */
  readonly updates: number;
  readonly updatesPerSecond: number;
  readonly latencyRounds: number;
  /** Reconciles whose overhead is timed. */
  readonly reconciles: number;
  readonly overheadRounds: number;
  readonly idleRounds: number;
  /** Children that one reconcile writes. */
  readonly children: number;
  readonly childRounds: number;
  /** The owners with ten children each that are reconciled, as often as `reconciles`, with nothing to change. */
  readonly owners: number;
  readonly noOpRounds: number;
  /** The admission reviews that are timed. */
  readonly reviews: number;
  readonly webhookRounds: number;
  /** How long a process rests before its idle memory is read. */
  readonly settleMs: number;
}

/** fullPlan is used for kept results: within about eight minutes once the peers are built. */
export const fullPlan: Plan = {
  objects: 10_000,
  syncRounds: 5,
  operatorRounds: 5,
  events: 30_000,
  eventRounds: 5,
  updates: 1_500,
  updatesPerSecond: 200,
  latencyRounds: 3,
  reconciles: 20_000,
  overheadRounds: 5,
  idleRounds: 3,
  children: 1_000,
  childRounds: 5,
  owners: 100,
  noOpRounds: 3,
  reviews: 5_000,
  webhookRounds: 3,
  settleMs: 10_000,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  objects: 1_000,
  syncRounds: 1,
  operatorRounds: 1,
  events: 3_000,
  eventRounds: 1,
  updates: 200,
  updatesPerSecond: 200,
  latencyRounds: 1,
  reconciles: 2_000,
  overheadRounds: 1,
  idleRounds: 1,
  children: 200,
  childRounds: 1,
  owners: 20,
  noOpRounds: 1,
  reviews: 500,
  webhookRounds: 1,
  settleMs: 500,
};
