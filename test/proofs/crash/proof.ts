import { startControlPlane } from '@bowline/control-plane';
import { type Cluster, cluster, until } from '@bowline/control-plane/testing';
import { Secret } from '@bowline/kubernetes';
import type { Operator } from '@bowline/runtime';
import { connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import type { Proof, ProofOptions, ProofResult } from '../../../scripts/proof.ts';
import { installOperator } from '../../support/install-operator.ts';
import { OperatorProcess } from './operator-process.ts';
import { bundleOperators, type OperatorProgram } from './operator-program.ts';
import { type Outcome, playCase } from './play.ts';
import type { CrashScenario } from './scenario.ts';
import { loadScenario, scenarioNames } from './scenarios.ts';
import { notPlayed, shareOf, shouldContinue } from './schedule.ts';

/** With less time than this, cases are made smaller instead of fewer. */
const ENOUGH_SECONDS = 300;

/**
 * The crash proof: an operator in a separate process, on a real API server and with exactly its own permissions, is killed in the
 * middle of its work and restarted. `--operator NAME` selects one; by default each operator with a scenario runs all seeds.
 * However little time there is, each runs at least its first actions.
 */
export const proof: Proof = {
  name: 'crash',
  summary:
    'operators killed at any point of their work and restarted: they finish it, lose nothing and change nothing else',
  defaultRuns: 15,
  run,
};

interface Played {
  readonly outcomes: readonly Outcome[];
  readonly violations: ProofResult['violations'];
  readonly facts: Readonly<Record<string, unknown>>;
}

async function run(options: ProofOptions): Promise<ProofResult> {
  const scenarios = await Promise.all(chosen(options.flags?.operator).map(loadScenario));
  const all = scenarios.map(({ actions }) => actions);
  await using program = await bundleOperators();
  const played: [string, Played][] = [];
  for (const scenario of scenarios) {
    const { seconds = Number.POSITIVE_INFINITY } = options;
    const time = shareOf(seconds, scenario.actions, all);
    played.push([scenario.operator.name, await playAll(scenario, program, { ...options, seconds: time })]);
  }
  return {
    name: 'crash',
    runs: played.reduce((sum, [, { outcomes }]) => sum + outcomes.length, 0),
    seed: options.seed,
    violations: played.flatMap(([, { violations }]) => violations),
    facts: Object.fromEntries(played.map(([name, { outcomes, facts }]) => [name, { ...facts, ...summary(outcomes) }])),
  };
}

function chosen(operator: string | undefined): readonly string[] {
  const known = scenarioNames();
  if (operator === undefined) return known;
  if (known.includes(operator)) return [operator];
  throw new Error(`the operator ${operator} has no crash scenario; known: ${known.join(', ')}`);
}

/** playAll runs the cases of one operator on a separate control plane: nothing else may change on it. */
async function playAll(
  scenario: CrashScenario,
  program: OperatorProgram,
  { runs, seed: first, seconds, log }: ProofOptions & { readonly seconds: number },
): Promise<Played> {
  const startedAt = performance.now();
  const { name } = scenario.operator;
  await using controlPlane = await startControlPlane({
    kind: 'kubernetes',
    scheduler: false,
    workloads: false,
    nodes: 0,
    onProgress: log,
  });
  log(`${name}: kube-apiserver ${controlPlane.version} is ready`);
  await using c = await cluster({ controlPlane, prefix: 'crash' });
  const kubeconfig = await installOperator(c, scenario.operator, scenario.config);
  const upstream = connectionFrom(await parseKubeconfig(JSON.stringify(kubeconfig), kubeconfig['current-context']));
  const isShort = seconds < ENOUGH_SECONDS;
  const world = await scenario.open({ cluster: c, isShort, log });
  await using process = await OperatorProcess.open(upstream, program, { scenario: name, namespace: c.namespace });
  process.start();
  await Promise.race([Promise.all([world.settled(), hasCertificate(c, scenario.operator)]), process.died]);

  // The flags that repeat the case.
  const title = `--operator ${name}${isShort ? ` --seconds ${ENOUGH_SECONDS - 1}` : ''}`;
  const outcomes: Outcome[] = [];
  const violations: { seed: number; message: string }[] = [];
  const players = { scenario, world, process, admin: c.admin };
  const isOver = (played: number): boolean =>
    !shouldContinue({ played, runs, elapsedMs: performance.now() - startedAt, seconds });
  for (let seed = first; !isOver(seed - first); seed++) {
    const fail = (message: string): void => void violations.push({ seed, message: `${title}: ${message}` });
    try {
      const outcome = await playCase(players, seed);
      outcomes.push(outcome);
      log(`${name} ${seed}: ${describe(outcome)}`);
      for (const problem of outcome.problems) fail(`${outcome.action}: ${problem}`);
    } catch (error) {
      fail(error instanceof Error ? error.message : String(error));
    }
    if (violations.length > 0) {
      log(`${name} logged: ${process.logTail}`);
      // The following cases would start from an undefined state.
      break;
    }
  }
  const left = notPlayed(scenario.actions, outcomes);
  if (left.length > 0) log(`${name}: not run: ${left.join(', ')}`);
  const facts = { kubernetes: controlPlane.version, ...world.facts, ...(left.length > 0 ? { notPlayed: left } : {}) };
  return { outcomes, violations, facts };
}

/** The certificate of webhooks is the only object that a manager creates for itself. */
async function hasCertificate({ namespace, admin }: Cluster, { name, webhooks }: Operator): Promise<void> {
  if (webhooks.length === 0) return;
  const secret = { namespace, name: `${name}-webhook-tls` };
  await until(admin, Secret, secret, ({ data }) => data?.['tls.crt'] !== undefined, { timeoutMs: 60_000 });
}

function describe({ action, kills, recoveryMs, problems }: Outcome): string {
  const deaths = kills.map(
    ({ requests, delayMs, progress }) => `${requests} requests + ${delayMs} ms (${percent(progress)} done)`,
  );
  const end = problems.length === 0 ? 'no violation' : `VIOLATED: ${problems[0]}`;
  return `${action}, killed after ${deaths.join(', then ')}; done ${recoveryMs} ms after the last start, ${end}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

function summary(outcomes: readonly Outcome[]) {
  const kills = outcomes.flatMap((outcome) => outcome.kills);
  const actions: Record<string, number> = {};
  for (const { action } of outcomes) actions[action] = (actions[action] ?? 0) + 1;
  return {
    cases: actions,
    kills: kills.length,
    killedBefore: kills.filter(({ progress }) => progress === 0).length,
    killedMidway: kills.filter(({ progress }) => progress > 0 && progress < 1).length,
    killedAfter: kills.filter(({ progress }) => progress === 1).length,
    longestRecoveryMs: Math.max(0, ...outcomes.map(({ recoveryMs }) => recoveryMs)),
  };
}
