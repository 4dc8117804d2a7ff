import { integerBelow, type Random, seededRandom } from '@bowline/machinery';
import type { Client } from '@bowline/runtime';
import { differences, takeFingerprint } from './fingerprint.ts';
import type { KillPoint, OperatorProcess } from './operator-process.ts';
import type { CrashCase, CrashScenario, World } from './scenario.ts';
import { deedOf } from './schedule.ts';

/** Kill is one death of the operator. */
export interface Kill extends KillPoint {
  /** How much of the deed was done by then, from 0 to 1. */
  readonly progress: number;
}

/** Outcome is what came of a case. */
export interface Outcome {
  readonly deed: string;
  readonly kills: readonly Kill[];
  /** From the last start to the end of the deed. */
  readonly recoveryMs: number;
  readonly problems: readonly string[];
}

/** Players are what a case is played with. */
export interface Players {
  readonly scenario: CrashScenario;
  readonly world: World;
  readonly process: OperatorProcess;
  readonly admin: Client;
}

const MOST_KILLS = 3;
/** What a process sends before it has work: lists and watches of everything that it caches. */
const REQUESTS_AT_START = 20;
/** Requests come by the dozen: so long after one of them the next ones are on their way. */
const LONGEST_DELAY_MS = 12;
/** How long a deed may take in all. */
const PATIENCE_MS = 180_000;
/** The most objects that one message names. */
const MOST_NAMED = 5;

/** playCase lets the operator do a deed, kills it up to three times on the way, and judges what is there in the end. */
export async function playCase({ scenario, world, process, admin }: Players, seed: number): Promise<Outcome> {
  const random = seededRandom(seed);
  const deed = deedOf(scenario.deeds, seed);
  const one = await world.begin(deed, seed);
  const bystanders = () => takeFingerprint(admin, (object) => one.isOwn(object));
  const before = await bystanders();

  const kills: Kill[] = [];
  const count = 1 + integerBelow(random, MOST_KILLS);
  let left = one.requests;
  let restartedAt = performance.now();
  for (let n = 0; n < count; n++) {
    const point = { requests: 1 + integerBelow(random, left), laterMs: integerBelow(random, LONGEST_DELAY_MS) };
    await crash(process, one, point, n === 0 ? () => one.act() : undefined);
    const progress = await one.progress();
    kills.push({ ...point, progress });
    await someoneElse(random, one);
    left = REQUESTS_AT_START + Math.ceil(one.requests * (1 - progress));
    restartedAt = performance.now();
    process.start();
  }
  await Promise.race([one.done(AbortSignal.timeout(PATIENCE_MS)), process.died]);
  const recoveryMs = Math.round(performance.now() - restartedAt);
  const problems = [
    ...shortened(await one.problems()),
    ...shortened(differences(before, await bystanders())).map((problem) => `bystander: ${problem}`),
  ];
  await one.end();
  return { deed, kills, recoveryMs, problems };
}

/** crash kills the operator at a moment of its deed, or when that is done if it is done before. */
async function crash(
  process: OperatorProcess,
  one: CrashCase,
  point: KillPoint,
  act: () => Promise<void> = async () => {},
): Promise<void> {
  const end = new AbortController();
  const killed = process.killAt(point, end.signal);
  const acted = act();
  const done = acted.then(() => one.done(AbortSignal.any([end.signal, AbortSignal.timeout(PATIENCE_MS)])));
  try {
    await Promise.race([killed, done, process.died]);
  } finally {
    end.abort();
    await killed;
    // Ended by the abort, unless it was the first.
    await done.catch(() => undefined);
  }
  await acted;
  await process.kill();
}

/** The world does not stand still while an operator is down. */
async function someoneElse(random: Random, one: CrashCase): Promise<void> {
  if (random.next() < 0.5) await one.meanwhile(random);
}

function shortened(problems: readonly string[]): readonly string[] {
  const more = problems.length - MOST_NAMED;
  return more > 0 ? [...problems.slice(0, MOST_NAMED), `and ${more} more of the kind`] : problems;
}
