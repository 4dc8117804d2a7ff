import { integerBelow, type Random, seededRandom } from '@bowline/machinery';
import type { Client } from '@bowline/runtime/client';
import { differences, takeFingerprint } from './fingerprint.ts';
import type { KillPoint, OperatorProcess } from './operator-process.ts';
import type { CrashCase, CrashScenario, World } from './scenario.ts';
import { actionOf } from './schedule.ts';

/** Kill is one kill of the operator. */
export interface Kill extends KillPoint {
  /** The progress of the action at that time, from 0 to 1. */
  readonly progress: number;
}

/** Outcome is the result of a case. */
export interface Outcome {
  readonly action: string;
  readonly kills: readonly Kill[];
  /** From the last start to the end of the action. */
  readonly recoveryMs: number;
  readonly problems: readonly string[];
}

/** Players holds the participants of a case. */
export interface Players {
  readonly scenario: CrashScenario;
  readonly world: World;
  readonly process: OperatorProcess;
  readonly admin: Client;
}

const MAX_KILLS = 3;
/** The requests of a process before it has work: lists and watches of everything it caches. */
const REQUESTS_AT_START = 20;
/** Requests come in bursts: this long after one of them the next ones are in flight. */
const MAX_DELAY_MS = 12;
/** The maximum duration of an action. */
const TIMEOUT_MS = 180_000;
/** The maximum number of objects named in one message. */
const MAX_NAMED = 5;

/** playCase runs an action of the operator, kills the operator up to three times meanwhile, and checks the final state. */
export async function playCase({ scenario, world, process, admin }: Players, seed: number): Promise<Outcome> {
  const random = seededRandom(seed);
  const action = actionOf(scenario.actions, seed);
  const one = await world.begin(action, seed);
  const bystanders = () => takeFingerprint(admin, (object) => one.isOwn(object));
  const before = await bystanders();

  const kills: Kill[] = [];
  const count = 1 + integerBelow(random, MAX_KILLS);
  let left = one.requests;
  let restartedAt = performance.now();
  for (let n = 0; n < count; n++) {
    const point = { requests: 1 + integerBelow(random, left), delayMs: integerBelow(random, MAX_DELAY_MS) };
    await crash(process, one, point, n === 0 ? () => one.act() : undefined);
    const progress = await one.progress();
    kills.push({ ...point, progress });
    await actMeanwhile(random, one);
    left = REQUESTS_AT_START + Math.ceil(one.requests * (1 - progress));
    restartedAt = performance.now();
    process.start();
  }
  await Promise.race([one.done(AbortSignal.timeout(TIMEOUT_MS)), process.died]);
  const recoveryMs = Math.round(performance.now() - restartedAt);
  const problems = [
    ...shortened(await one.problems()),
    ...shortened(differences(before, await bystanders())).map((problem) => `bystander: ${problem}`),
  ];
  await one.end();
  return { action, kills, recoveryMs, problems };
}

/** crash kills the operator at a moment of its action, or when the action is done if that comes first. */
async function crash(
  process: OperatorProcess,
  one: CrashCase,
  point: KillPoint,
  act: () => Promise<void> = async () => {},
): Promise<void> {
  const end = new AbortController();
  const killed = process.killAt(point, end.signal);
  const acted = act();
  const done = acted.then(() => one.done(AbortSignal.any([end.signal, AbortSignal.timeout(TIMEOUT_MS)])));
  try {
    await Promise.race([killed, done, process.died]);
  } finally {
    end.abort();
    await killed;
    // Ended by the abort, unless it finished first.
    await done.catch(() => undefined);
  }
  await acted;
  await process.kill();
}

/** Other clients are active while an operator is down. */
async function actMeanwhile(random: Random, one: CrashCase): Promise<void> {
  if (random.next() < 0.5) await one.meanwhile(random);
}

function shortened(problems: readonly string[]): readonly string[] {
  const more = problems.length - MAX_NAMED;
  return more > 0 ? [...problems.slice(0, MAX_NAMED), `and ${more} more of this kind`] : problems;
}
