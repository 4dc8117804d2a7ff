import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { profileOf } from '../discovery/gateways.test-support.ts';
import { Fleet } from './fleet.test-support.ts';
import type { Rollout } from './rollout.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const PROFILES = ['p', 'q', 'r'];
const STAGES = ['one', 'two', 'three'];
const WAIT_MS = 10_000;
/** A limit for tests that hang; on a busy machine a test may take much longer than on an idle one. */
const TIMEOUT_MS = 120_000;

const name = fc.constantFrom(...NAMES);
const names = (maxLength: number) => fc.uniqueArray(name, { maxLength });

/** A scenario is any settings, also contradictory ones: order, profiles and peers may form cycles. */
const scenario = fc.record({
  isCanary: fc.boolean(),
  stageOf: fc.array(fc.nat(STAGES.length), { minLength: NAMES.length, maxLength: NAMES.length }),
  syncOrder: names(4),
  maxParallel: fc.integer({ min: 1, max: 3 }),
  peers: fc.array(fc.tuple(name, name), { maxLength: 3 }),
  profileOf: fc.array(fc.option(fc.constantFrom(...PROFILES)), { minLength: NAMES.length, maxLength: NAMES.length }),
  dependsOn: fc.array(fc.tuple(fc.constantFrom(...PROFILES), fc.constantFrom(...PROFILES)), { maxLength: 3 }),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/** Steps that may happen at any time. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: 'plan' } as const) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('start' as const), at: fc.nat(6) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('finish' as const), at: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), at: fc.nat(6) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stop' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('run' as const), name }) },
  { weight: 1, arbitrary: fc.constant({ do: 'push' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'change settings' } as const) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 150_000 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** nth returns one of the elements that a step may choose from. */
function nth(elements: readonly string[], at: number): string {
  return elements[at % elements.length] ?? '';
}

/** Plant is a fleet whose agents sync at any speed, and that watches over what must always hold. */
class Plant {
  readonly fleet: Fleet;
  /** What agents sync at the moment. */
  readonly syncing = new Map<string, { readonly hash: string; readonly commit: string | undefined }>();
  /** When all gateways of a stage had a commit, by stage and commit. */
  readonly #syncedAt = new Map<string, number>();
  readonly #scenario: Scenario;
  #pushes = 0;
  #changes = 0;

  constructor(given: Scenario) {
    this.#scenario = given;
    const { syncOrder, maxParallel, isCanary } = given;
    const stages = STAGES.map((stage, index) => ({
      name: stage,
      gateways: NAMES.filter((_, at) => given.stageOf[at] === index),
      postSyncWait: `${WAIT_MS / 1_000}s`,
    })).filter(({ gateways }) => gateways.length > 0);
    const deployment = isCanary ? { strategy: 'canary', stages, syncOrder, maxParallel } : { syncOrder, maxParallel };
    const profiles = PROFILES.map((profile) => {
      const needed = given.dependsOn.filter(([from]) => from === profile).map(([, to]) => to);
      return [profile, profileOf({ dependsOn: [...new Set(needed)].map((profileName) => ({ profileName })) })] as const;
    });
    this.fleet = new Fleet([], { deployment }, { profiles: Object.fromEntries(profiles) });
    for (const each of NAMES) this.run(each);
    this.#push();
  }

  run(each: string): void {
    if (this.fleet.pods.has(each)) return;
    const peer = this.#scenario.peers.find(([backup]) => backup === each)?.[1];
    const syncProfile = this.#scenario.profileOf[NAMES.indexOf(each)] ?? '';
    const redundancy = peer === undefined ? {} : { redundancyRole: 'backup', peerGatewayName: peer };
    this.fleet.add(each, { annotations: { ...redundancy, syncProfile } });
  }

  take(action: Step): void {
    const { fleet } = this;
    switch (action.do) {
      case 'plan':
        this.plan();
        break;
      case 'start':
        this.start(nth(fleet.due(), action.at));
        break;
      case 'finish':
        this.finish(nth([...this.syncing.keys()], action.at), 'Synced');
        break;
      case 'fail':
        this.finish(nth([...this.syncing.keys()], action.at), 'Error');
        break;
      case 'stop':
        fleet.pods.delete(action.name);
        fleet.reports.delete(action.name);
        this.syncing.delete(action.name);
        break;
      case 'run':
        this.run(action.name);
        break;
      case 'push':
        this.#push();
        break;
      case 'change settings':
        fleet.metadata = { ...fleet.metadata, trigger: String(++this.#changes) };
        break;
      case 'wait':
        fleet.now += action.ms;
        break;
    }
  }

  plan(): Rollout {
    const { fleet } = this;
    const before = fleet.previous;
    this.#observeStages();
    const rollout = fleet.plan();
    const { plan } = rollout;
    for (const [pod, { commit }] of Object.entries(plan)) {
      if (commit === fleet.metadata.commit && before[pod]?.commit !== commit) this.#checkStages(pod);
    }
    // The plan does not change while nothing else does.
    expect(isDeepStrictEqual(fleet.plan().plan, plan)).toBe(true);
    return rollout;
  }

  start(each: string): void {
    if (this.syncing.has(each) || !this.fleet.due().includes(each)) return;
    const { commit } = this.fleet.previous[each] ?? {};
    this.syncing.set(each, { hash: this.fleet.hashOf(each) ?? '', commit });
    expect(this.syncing.size).toBeLessThanOrEqual(this.#scenario.maxParallel);
  }

  finish(each: string, syncStatus: 'Synced' | 'Error'): void {
    const sync = this.syncing.get(each);
    if (sync === undefined) return;
    this.syncing.delete(each);
    const syncedCommit = syncStatus === 'Synced' ? sync.commit : this.fleet.reports.get(each)?.syncedCommit;
    this.fleet.reports.set(each, { syncStatus, appliedHash: sync.hash, syncedCommit });
  }

  /** converge lets every pod run and every agent succeed, and returns the number of rounds until nothing is left to do. */
  converge(): number {
    const { fleet } = this;
    for (const each of NAMES) this.run(each);
    for (let round = 1; round < 200; round++) {
      for (const each of [...this.syncing.keys()]) this.finish(each, 'Synced');
      this.plan();
      for (const each of fleet.due()) this.start(each);
      for (const each of [...this.syncing.keys()]) this.finish(each, 'Synced');
      // Agents repeat what failed.
      for (const [each, report] of fleet.reports)
        if (report.syncStatus === 'Error') fleet.report(each, { appliedHash: report.appliedHash });
      const { lookAgainMs, waitingFor } = this.plan();
      if (lookAgainMs !== undefined) fleet.now += lookAgainMs;
      else if (waitingFor.size === 0 && fleet.due().length === 0) return round;
    }
    throw new Error(`it does not end: ${JSON.stringify(fleet.waits())}`);
  }

  #push(): void {
    this.fleet.push(String(++this.#pushes).padStart(40, '0'));
  }

  #stageIndex(pod: string): number {
    return this.#scenario.stageOf[NAMES.indexOf(pod)] ?? STAGES.length;
  }

  #observeStages(): void {
    const { fleet } = this;
    const { commit } = fleet.metadata;
    for (const index of STAGES.keys()) {
      const members = [...fleet.pods.keys()].filter((pod) => this.#stageIndex(pod) === index);
      const isSynced = members.every((pod) => fleet.reports.get(pod)?.syncedCommit === commit);
      const key = `${index} ${commit}`;
      if (members.length > 0 && isSynced && !this.#syncedAt.has(key)) this.#syncedAt.set(key, fleet.now);
    }
  }

  /** #checkStages fails if a gateway got the new commit before the earlier stages were done with it. */
  #checkStages(pod: string): void {
    if (!this.#scenario.isCanary) return;
    const { fleet } = this;
    for (let index = 0; index < this.#stageIndex(pod); index++) {
      if (!this.#scenario.stageOf.includes(index)) continue;
      const at = this.#syncedAt.get(`${index} ${fleet.metadata.commit}`);
      expect(at, `stage ${STAGES[index]} before ${pod}`).toBeDefined();
      expect(fleet.now - (at ?? 0)).toBeGreaterThanOrEqual(WAIT_MS);
    }
  }
}

describe('any rollout', () => {
  it(
    'never syncs more gateways than maxParallel at the same time, nor a stage before the earlier ones are done',
    () => {
      fc.assert(
        fc.property(scenario, fc.array(step, { minLength: 40, maxLength: 60 }), (given, steps) => {
          const plant = new Plant(given);
          for (const each of steps) plant.take(each);
        }),
        { numRuns: 50 },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'ends with every gateway at the commit, whatever happened before',
    () => {
      fc.assert(
        fc.property(scenario, fc.array(step, { maxLength: 30 }), (given, steps) => {
          const plant = new Plant(given);
          for (const each of steps) plant.take(each);
          plant.converge();
          const { fleet } = plant;
          const commits = NAMES.map((each) => fleet.reports.get(each)?.syncedCommit);
          expect(new Set(commits)).toEqual(new Set([fleet.metadata.commit]));
        }),
        { numRuns: 30 },
      );
    },
    TIMEOUT_MS,
  );

  it(
    'does not depend on the order in which pods and reports are known',
    () => {
      fc.assert(
        fc.property(
          scenario,
          fc.array(step, { maxLength: 30 }),
          fc.shuffledSubarray(NAMES, { minLength: 7 }),
          (given, steps, order) => {
            const { fleet } = (() => {
              const plant = new Plant(given);
              for (const each of steps) plant.take(each);
              return plant;
            })();
            const { previous } = fleet;
            const expected = fleet.plan();
            fleet.previous = Object.fromEntries(order.flatMap((pod) => (previous[pod] ? [[pod, previous[pod]]] : [])));
            fleet.pods = new Map([...fleet.pods].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
            fleet.reports = new Map([...fleet.reports].sort(([a], [b]) => order.indexOf(a) - order.indexOf(b)));
            expect(fleet.plan()).toEqual(expected);
          },
        ),
        { numRuns: 50 },
      );
    },
    TIMEOUT_MS,
  );
});
