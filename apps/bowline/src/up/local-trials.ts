import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@bowline/machinery';
import { BowlineError, type Log, type Operator } from '@bowline/runtime';
import { type LeftOut, type LocalTrial, withLocalTrial } from '@bowline/runtime/manager';
import { MANAGER_NAMESPACE } from './install-operators.ts';
import type { UpCluster } from './up-cluster.ts';

/** LocalTrials holds what operators have started for their samples. Disposing of it ends all of it. */
export interface LocalTrials extends AsyncDisposable {
  /** The operators that can run, with what their trials require. */
  readonly operators: readonly Operator[];
  /** Which samples are left out, and why: one line each. */
  readonly leftOut: readonly string[];
  /** Rejects when something that was started ends by itself with an error. */
  readonly failed: Promise<never>;
}

/** How long `bowline up` waits for the end of what was started. */
const STOP_TIMEOUT_MS = 10_000;

/** TrialOptions configures what operators start for their samples. */
export interface TrialOptions {
  readonly cluster: UpCluster;
  /** Whether samples are created; otherwise nothing is started. */
  readonly hasSamples: boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** startTrials calls `local.start` of the operators that have one. */
export async function startTrials(operators: readonly Operator[], options: TrialOptions): Promise<LocalTrials> {
  const { cluster, hasSamples, log, signal } = options;
  const starting = hasSamples ? operators.filter(({ local }) => local.start !== undefined) : [];
  const end = new AbortController();
  const folders = starting.length === 0 ? undefined : await trialFolders(cluster.folder);
  const running: Promise<void>[] = [];
  const stop = async (): Promise<void> => {
    end.abort();
    const timeout = new AbortController();
    const limit = systemClock.sleep(STOP_TIMEOUT_MS, timeout.signal).catch(() => undefined);
    await Promise.race([Promise.allSettled(running), limit]);
    timeout.abort();
    await folders?.remove();
  };
  const start = async (operator: Operator): Promise<LocalTrial | LeftOut> => {
    const folder = await folders?.create(operator.name);
    const trial = await operator.local.start?.({
      folder: folder ?? '',
      admin: cluster.admin,
      namespace: MANAGER_NAMESPACE,
      kubeconfigFor: (account) => cluster.kubeconfigFor(account),
      log: log.with({ operator: operator.name }),
      signal: AbortSignal.any([signal, end.signal]),
    });
    if (trial && 'stopped' in trial && trial.stopped) running.push(trial.stopped);
    return trial ?? {};
  };
  try {
    const started = await Promise.allSettled(starting.map(start));
    const trials = new Map(starting.map((operator, at) => [operator.name, resultOf(operator, started[at])]));
    return {
      operators: remaining(operators, trials),
      leftOut: [...trials].flatMap(([name, trial]) => ('leftOut' in trial ? [`${name}: ${trial.leftOut}`] : [])),
      failed: firstFailure(running),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** remaining returns the operators that are not left out, with what their trials require. */
function remaining(
  operators: readonly Operator[],
  trials: ReadonlyMap<string, LocalTrial | LeftOut>,
): readonly Operator[] {
  const result = operators.flatMap((operator) => {
    const trial = trials.get(operator.name);
    if (trial === undefined) return [operator];
    return 'leftOut' in trial && trial.isOperatorLeftOut ? [] : [withLocalTrial(operator, trial)];
  });
  if (result.length > 0) return result;
  const reasons = [...trials].map(([name, trial]) => `${name}: ${'leftOut' in trial ? trial.leftOut : ''}`);
  throw new BowlineError('BOWLINE_UP_TRIAL', `no operator can run on this machine: ${reasons.join('; ')}`);
}

function resultOf({ name }: Operator, result: PromiseSettledResult<LocalTrial | LeftOut> | undefined) {
  if (result?.status === 'fulfilled') return result.value;
  const cause: unknown = result?.reason;
  throw new BowlineError(
    'BOWLINE_UP_TRIAL',
    `cannot start what the samples of ${name} need: ${cause instanceof Error ? cause.message : String(cause)}; leave them out with --no-samples`,
    { cause },
  );
}

/** A trial that ends without an error has nothing more to do. */
function firstFailure(running: readonly Promise<void>[]): Promise<never> {
  const failed = Promise.race(running.map((each) => each.then(() => new Promise<never>(() => {}))));
  // After `bowline up` has ended, no one waits for it.
  failed.catch(() => undefined);
  return failed;
}

/** Folders below that of the control plane are removed with it, unless its data is kept. */
async function trialFolders(clusterFolder: string | undefined) {
  const own = clusterFolder === undefined ? await mkdtemp(join(tmpdir(), 'bowline-up-')) : undefined;
  const parent = own ?? join(clusterFolder ?? '', 'local');
  return {
    async create(name: string): Promise<string> {
      const folder = join(parent, name);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    async remove(): Promise<void> {
      if (own !== undefined) await rm(own, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
