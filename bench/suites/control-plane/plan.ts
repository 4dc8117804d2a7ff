/** Plan configures how much a run measures. */
export interface Plan {
  readonly readyRounds: number;
  readonly commandRounds: number;
  readonly startRounds: number;
  /** The objects for the memory measurement, and the namespaces they are spread over; one of those is listed. */
  readonly objects: number;
  readonly namespaces: number;
  /** The writes per batch, and how often a server gets a batch of creates and one of updates. */
  readonly writes: number;
  readonly writeRounds: number;
  readonly watches: number;
  /** The writes whose delivery to the watches is timed. */
  readonly watchedWrites: number;
  readonly watchRounds: number;
  readonly lists: number;
  readonly listRounds: number;
  /** How long a server rests before its memory is read. */
  readonly settleMs: number;
}

/** fullPlan is used for kept results: about three minutes. */
export const fullPlan: Plan = {
  readyRounds: 7,
  commandRounds: 7,
  startRounds: 5,
  objects: 20_000,
  namespaces: 4,
  writes: 3_000,
  writeRounds: 3,
  watches: 100,
  watchedWrites: 200,
  watchRounds: 3,
  lists: 20,
  listRounds: 3,
  settleMs: 5_000,
};

/** quickPlan only shows that everything still runs; its numbers are meaningless and are not kept. */
export const quickPlan: Plan = {
  readyRounds: 1,
  commandRounds: 1,
  startRounds: 1,
  objects: 1_000,
  namespaces: 4,
  writes: 300,
  writeRounds: 1,
  watches: 100,
  watchedWrites: 20,
  watchRounds: 1,
  lists: 3,
  listRounds: 1,
  settleMs: 500,
};
