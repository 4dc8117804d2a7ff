import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { integerBelow, seededRandom } from '@bowline/machinery';
import { bundleSubjects } from '../../../bench/support/bundle.ts';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import type { Endurance, EnduranceSettings } from './endurance-child.ts';
import { folderBytes } from './folder-bytes.ts';
import { Ledger } from './ledger.ts';
import { ServerProcess } from './server-process.ts';
import { readAll, writeUntilKilled } from './write-until-killed.ts';

const MAX_WRITES_PER_ROUND = 1_200;
/** The fraction of rounds in which the process is also killed while it starts. */
const EARLY_KILLS = 0.25;
const MAX_START_MS = 600;
const UPDATES = 1_000_000;
const SERVER = new URL('./server-child.ts', import.meta.url);
/** The limits that the control plane guarantees. */
const MAX_GROWTH = 1.2;
const MAX_FOLDER_RATIO = 4;
const MAX_AUDIT_BYTES = 32 * 1024 * 1024;

/**
 * The durability proof: an embedded control plane in a separate process is killed repeatedly, while it writes and while it
 * starts, and must have every acknowledged write each time it comes back. `--kills N` is the same as `--runs N`. Then 100 objects
 * are updated a million times (`--updates N` for another number), and neither memory nor the folder may grow with that; nor may
 * the audit log exceed its limit, over one start or many.
 */
export const proof: Proof = {
  name: 'durability',
  summary: 'an embedded control plane killed repeatedly with -9: no acknowledged write is lost, nothing grows',
  defaultRuns: 40,
  run,
};

type Violation = ProofResult['violations'][number];

async function run(options: ProofOptions): Promise<ProofResult> {
  const { seed, seconds = Number.POSITIVE_INFINITY, flags = {}, log } = options;
  const runs = flags.kills === undefined ? options.runs : Number(flags.kills);
  if (!Number.isInteger(runs)) throw new Error(`--kills must be an integer, not ${flags.kills}`);
  const violations: Violation[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'bowline-durability-'));
  try {
    const bundled = await bundleSubjects([SERVER], join(folder, 'programs'));
    const [program = ''] = bundled('server-child').args;
    const killed = (): ServerProcess => new ServerProcess(program, join(folder, 'killed'));
    // Half of the time for each part if time is short.
    const rounds = await killAgainAndAgain(killed, { ...options, runs, seconds: seconds / 2 }, violations);
    const auditBytes = folderBytes(join(folder, 'killed', 'audit'));
    const updates = flags.updates === undefined ? UPDATES : Number(flags.updates);
    const settings = { folder: join(folder, 'endured'), updates, seconds: Math.min(seconds / 2, 3_600) };
    const endurance = await endure(settings);
    log(`${endurance.updates} updates, ${endurance.perSecond} per second`);
    // If time was short, nothing is known about growth.
    const growth = endurance.rssAtFirst === 0 ? 1 : endurance.rss / endurance.rssAtFirst;
    const share = endurance.largestFolderBytes / endurance.liveBytes;
    if (growth > MAX_GROWTH)
      violations.push({ seed, message: `memory grew to ${growth.toFixed(2)} of its initial size` });
    if (share > MAX_FOLDER_RATIO)
      violations.push({ seed, message: `the folder held ${share.toFixed(2)} times the live data` });
    const largestAudit = Math.max(auditBytes, endurance.largestAuditBytes);
    if (largestAudit > MAX_AUDIT_BYTES)
      violations.push({ seed, message: `the audit log held ${largestAudit} bytes, more than ${MAX_AUDIT_BYTES}` });
    const ratios = { memoryGrowth: round(growth), folderToLive: round(share) };
    return {
      name: 'durability',
      runs: rounds.kills,
      seed,
      violations,
      facts: { ...rounds, auditBytes, ...ratios, endurance },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function killAgainAndAgain(start: () => ServerProcess, options: ProofOptions, violations: Violation[]) {
  const { runs, seed: first, seconds = Number.POSITIVE_INFINITY, log } = options;
  const startedAt = performance.now();
  const ledger = new Ledger();
  const restartMs: number[] = [];
  let [kills, early, acknowledged] = [0, 0, 0];
  while (kills < runs && performance.now() - startedAt < seconds * 1_000 && violations.length === 0) {
    const seed = first + kills;
    const random = seededRandom(seed);
    if (random.next() < EARLY_KILLS) {
      const starting = start();
      await pause(integerBelow(random, MAX_START_MS));
      await starting.kill();
      early++;
    }
    await using server = start();
    restartMs.push(await server.ready());
    const report = (message: string): void => void violations.push({ seed, message });
    for (const message of ledger.compare(await readAll(server))) report(message);
    const goal = 1 + integerBelow(random, MAX_WRITES_PER_ROUND);
    const laterMs = integerBelow(random, 4);
    const written = await writeUntilKilled(server, ledger, random, goal, async () => {
      if (laterMs > 0) await pause(laterMs);
      await server.kill();
    });
    for (const message of written.violations) report(message);
    acknowledged += written.acknowledged;
    kills++;
    if (kills % 10 === 0) log(`${kills} kills, ${acknowledged} writes acknowledged, revision ${ledger.newest}`);
  }
  // The state after the last kill is checked too.
  await using server = start();
  restartMs.push(await server.ready());
  for (const message of ledger.compare(await readAll(server))) violations.push({ seed: first + kills, message });
  restartMs.sort((a, b) => a - b);
  return {
    kills,
    killsWhileStarting: early,
    acknowledged,
    unanswered: ledger.unacknowledged,
    revision: ledger.newest,
    restartMs: { median: round(restartMs[restartMs.length >> 1] ?? 0), most: round(restartMs.at(-1) ?? 0) },
  };
}

async function endure(settings: EnduranceSettings): Promise<Endurance> {
  const script = fileURLToPath(new URL('./endurance-child.ts', import.meta.url));
  const execArgv = [...process.execArgv, '--expose-gc'];
  const child = fork(script, [JSON.stringify(settings)], { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`the process of the updates exited with ${code} before it was done`);
  });
  const [endurance] = (await Promise.race([once(child, 'message'), exited])) as [Endurance];
  exited.catch(() => undefined);
  return endurance;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
