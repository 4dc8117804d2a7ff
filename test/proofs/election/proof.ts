import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, connectClient, startControlPlane } from '@bowline/control-plane';
import { Namespace } from '@bowline/kubernetes';
import { connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { judge } from './judge.ts';
import { Replica } from './replica-process.ts';
import { simulate } from './simulation.ts';

/** Short, so that a round takes seconds; in the proportions of the defaults. */
const TIMING = { leaseDurationMs: 3_000, renewDeadlineMs: 2_000, retryPeriodMs: 400 };
const NAMESPACE = 'election-proof';
const SIMULATIONS_PER_ROUND = 20;

/** The faults of a leader, in round order; the seed decides which comes first. */
const FAULTS = ['kill', 'pause', 'partition', 'stall', 'terminate'] as const;
type FaultKind = (typeof FAULTS)[number];

interface Round {
  readonly fault: FaultKind;
  /** From the fault to the arrival of the next leader's claim at the server. */
  readonly failoverMs: number;
  /** Requests of the old leader that arrived after that, sent before its deadline by its own clock. */
  readonly late: number;
  readonly lateStored: number;
  /** Writes of the old leader that its guard refused. */
  readonly refused: number;
  readonly ended: string;
}

/**
 * The election proof: managers in separate processes on a real API server; each round makes the leader fail. The server's audit
 * log and the previous leader's own journal are checked.
 */
export const proof: Proof = {
  name: 'election',
  summary: 'two managers, one Lease: kill, pause, partition and stall the leader; no process writes without the Lease',
  defaultRuns: 6,
  run,
};

async function run(options: ProofOptions): Promise<ProofResult> {
  const startedAt = performance.now();
  const violations: { seed: number; message: string }[] = [];
  const rounds: Round[] = [];
  const simulated = { runs: 0, acquisitions: 0, writes: 0, smallestMarginMs: Number.POSITIVE_INFINITY };

  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    onProgress: options.log,
  });
  options.log(`kube-apiserver ${controlPlane.version} is ready`);
  await using stage = await Stage.open(controlPlane);
  let leader = await stage.start();
  await leader.leading();

  for (let n = 0; n < options.runs; n++) {
    // One round, however long the start has taken.
    if (n > 0 && options.seconds !== undefined && performance.now() - startedAt > options.seconds * 1000) break;
    const seed = options.seed + n;
    const fail = (message: string): void => void violations.push({ seed, message });
    const fault = FAULTS[seed % FAULTS.length] ?? 'kill';
    const next = await stage.start();
    const before = violations.length;
    try {
      const round = await playRound(stage, fault, leader, next, fail);
      rounds.push(round);
      options.log(describe(rounds.length, round));
    } catch (error) {
      fail(`${fault}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (violations.length > before) {
      for (const replica of [leader, next]) options.log(`${replica.name} logged: ${replica.logTail}`);
      // The following rounds would start from an undefined state.
      break;
    }
    await leader[Symbol.asyncDispose]();
    leader = next;
    for (let i = 0; i < SIMULATIONS_PER_ROUND; i++) {
      const result = await simulate(seed * SIMULATIONS_PER_ROUND + i, 120_000);
      simulated.runs++;
      simulated.acquisitions += result.acquisitions;
      simulated.writes += result.writes;
      simulated.smallestMarginMs = Math.min(simulated.smallestMarginMs, result.smallestMarginMs);
      for (const message of result.violations) fail(`simulation: ${message}`);
    }
  }
  return {
    name: 'election',
    runs: rounds.length,
    seed: options.seed,
    violations,
    facts: {
      kubernetes: controlPlane.version,
      ...TIMING,
      failoverMs: failovers(rounds),
      lateRequests: rounds.reduce((sum, round) => sum + round.late, 0),
      lateRequestsStored: rounds.reduce((sum, round) => sum + round.lateStored, 0),
      refusedWrites: rounds.reduce((sum, round) => sum + round.refused, 0),
      simulated: { ...simulated, smallestMarginMs: Math.round(simulated.smallestMarginMs) },
    },
  };
}

/** playRound applies the fault of the round to the leader, waits for the next leader, and lets the old one try to continue. */
async function playRound(
  stage: Stage,
  fault: FaultKind,
  leader: Replica,
  next: Replica,
  fail: (message: string) => void,
): Promise<Round> {
  await next.standingBy();
  await leader.wrote(20);
  const struckAt = Date.now();
  switch (fault) {
    case 'kill':
      leader.kill();
      break;
    case 'pause':
      leader.pause();
      break;
    case 'partition':
      leader.partition();
      break;
    case 'stall':
      // Past its own deadline, and past the next leader's claim.
      leader.stall(TIMING.leaseDurationMs + 2 * TIMING.retryPeriodMs + 1_000);
      break;
    case 'terminate':
      leader.terminate();
      break;
  }
  await next.leading();
  await next.wrote(20);
  leader.heal();
  leader.resume();
  // The new leader continues to write while the old one recovers.
  await next.wrote(30);
  const ended = await leader.ended();
  const expected = fault === 'kill' ? undefined : fault === 'terminate' ? 'stopped' : 'BOWLINE_LEADERSHIP_LOST';
  if (ended?.reason !== expected) fail(`${fault}: the old leader ended with ${ended?.reason ?? 'no reason'}`);

  const verdict = judge({
    audit: await stage.audit(struckAt - 60_000),
    journal: leader.journal(),
    oldUser: leader.name,
    newUser: next.name,
    renewDeadlineMs: TIMING.renewDeadlineMs,
  });
  for (const message of verdict.violations) fail(`${fault}: ${message}`);
  return {
    fault,
    failoverMs: Math.round((verdict.acquiredAt ?? Number.NaN) - struckAt),
    late: verdict.late,
    lateStored: verdict.lateStored,
    refused: ended?.refused ?? 0,
    ended: ended?.reason ?? 'killed',
  };
}

/** Stage is the control plane with the prerequisites of the replicas. */
class Stage implements AsyncDisposable {
  readonly #controlPlane: ControlPlane;
  readonly #folder: string;
  readonly #replicas = new Set<Replica>();
  #count = 0;

  private constructor(controlPlane: ControlPlane, folder: string) {
    this.#controlPlane = controlPlane;
    this.#folder = folder;
  }

  static async open(controlPlane: ControlPlane): Promise<Stage> {
    await using admin = await connectClient(await controlPlane.kubeconfig('admin'));
    await admin.create(Namespace, { metadata: { name: NAMESPACE } });
    return new Stage(controlPlane, await mkdtemp(join(tmpdir(), 'bowline-election-')));
  }

  /** Each replica has its own user, so that the audit log distinguishes them. */
  async start(): Promise<Replica> {
    const name = `replica-${++this.#count}`;
    const kubeconfig = await this.#controlPlane.kubeconfig({ user: name, groups: ['system:masters'] });
    const upstream = connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), name));
    const replica = await Replica.start({ name, namespace: NAMESPACE, upstream, folder: this.#folder, ...TIMING });
    this.#replicas.add(replica);
    return replica;
  }

  audit(since: number) {
    return this.#controlPlane.audit(since);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#replicas].map((replica) => replica[Symbol.asyncDispose]()));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

function describe(number: number, round: Round): string {
  const { fault, failoverMs, late, lateStored, refused, ended } = round;
  return (
    `round ${number}: ${fault}, failover ${failoverMs} ms, ${refused} writes refused, ` +
    `${late} late requests sent before the deadline (${lateStored} stored), old leader: ${ended}`
  );
}

function failovers(rounds: readonly Round[]): Record<string, readonly number[]> {
  const byFault: Record<string, number[]> = {};
  for (const { fault, failoverMs } of rounds) {
    byFault[fault] ??= [];
    byFault[fault].push(failoverMs);
  }
  return byFault;
}
