import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '@bowline/machinery';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Fields, Log } from '../observability/log.ts';
import type { Queue } from '../queue/queue.ts';
import type { QueueItem } from '../queue/queue-options.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { Run } from './run.ts';
import { judgeError, judgeResult, type Verdict } from './verdict.ts';

/** Deferral postpones a run. */
export interface Deferral {
  readonly deferMs: number;
}

/** ReconcilerOptions configures the workers of a queue. */
export interface ReconcilerOptions {
  readonly queue: Queue;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: ControllerMetrics;
  /** The prefix of the id of each run. */
  readonly idPrefix: string;
  /** begin returns the work for a run's key, undefined if there is nothing to do, or a deferral. */
  readonly begin: (run: Run) => (() => unknown) | Deferral | undefined;
  /** Returns the log fields that identify a key. */
  readonly describe: (key: string) => Fields;
}

/**
 * Reconciles that wait for nothing run one after another without yielding to the event loop: ten thousand of them would
 * hold up sockets, probes and the renewal of the Lease.
 */
const RUNS_PER_TURN = 64;
const MAX_TURN_MS = 10;

/**
 * Reconciler takes keys from a queue and runs one function for each, a few concurrently. Whatever a run does (throws,
 * never ends), the others continue.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  /** Runs that hold a slot. */
  readonly #active = new Set<Run>();
  /** Runs that lost their slot and have not ended. */
  readonly #overdue = new Set<Run>();
  /** Keys whose runs were aborted by stopping. */
  readonly #unfinishedKeys: string[] = [];
  #count = 0;
  #stopping = false;
  #runsInTurn = 0;
  #turnStartedAt = 0;
  #turn: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#active.size;
  }

  get overdue(): number {
    return this.#overdue.size;
  }

  /** overdueKeys returns the keys that are blocked by a run that does not end. */
  overdueKeys(): string[] {
    return Array.from(this.#overdue, (run) => run.item.key);
  }

  /** run works until `stop`; it resolves when every worker has ended. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.concurrency }, () => this.#work()));
  }

  /**
   * stop takes no further keys and waits until the current runs have ended, at most `drainMs`; then it aborts their
   * signals with the reason. Overdue runs were aborted before, so it does not wait for them. It returns the keys whose
   * runs had not ended.
   */
  async stop(reason: unknown, drainMs: number): Promise<readonly string[]> {
    this.#stopping = true;
    // Resolves when the last run has ended. That may be never, so it is not awaited.
    void this.#options.queue.shutDown({ discard: true });
    if (this.#active.size > 0 && drainMs > 0) {
      await new Promise<void>((resolve) => {
        const timer = this.#options.clock.setTimer(drainMs, resolve);
        this.#onIdle = () => {
          timer.cancel();
          resolve();
        };
      });
    }
    this.abortAll(reason);
    return this.#unfinishedKeys;
  }

  /** abortAll aborts every current run and takes its slot away; a current drain ends. */
  abortAll(reason: unknown): void {
    for (const run of [...this.#active]) {
      run.abort(reason);
      this.#unfinishedKeys.push(run.item.key);
      this.#free(run);
    }
  }

  async #work(): Promise<void> {
    const { queue } = this.#options;
    for (let item = await queue.next(); item !== undefined; item = await queue.next()) {
      if (this.#stopping) {
        // Handed out just before the stop: the next process sees every object again.
        queue.done(item.key);
        return;
      }
      await this.#process(item);
      if (this.#turn !== undefined || this.#isTurnOver()) await this.#yieldToEventLoop();
    }
  }

  #isTurnOver(): boolean {
    return ++this.#runsInTurn >= RUNS_PER_TURN || this.#options.clock.monotonic() - this.#turnStartedAt > MAX_TURN_MS;
  }

  /** All workers wait together: if each waited alone, the others would continue. */
  async #yieldToEventLoop(): Promise<void> {
    this.#turn ??= nextTurn().then(() => {
      this.#turn = undefined;
      this.#runsInTurn = 0;
      this.#turnStartedAt = this.#options.clock.monotonic();
    });
    await this.#turn;
  }

  /** Resolves when the slot is free again, which may be before the run has ended. */
  #process(item: QueueItem): Promise<void> | undefined {
    const { clock, timeoutMs, queue, begin, idPrefix } = this.#options;
    const run = new Run(item, `${idPrefix}-${(++this.#count).toString(36)}`, clock.monotonic());
    let work: (() => unknown) | Deferral | undefined;
    try {
      work = begin(run);
    } catch (error) {
      this.#end(run, judgeError(error, item.failures));
      return undefined;
    }
    if (work === undefined) {
      queue.forget(item.key);
      queue.done(item.key);
      return undefined;
    }
    if (typeof work === 'object') {
      queue.defer(item, work.deferMs);
      queue.done(item.key);
      return undefined;
    }
    this.#active.add(run);
    const started = work;
    return new Promise((resolve) => {
      run.onFree = resolve;
      const timer = clock.setTimer(timeoutMs, () => this.#timeOut(run));
      void settle(started, item.failures).then((verdict) => {
        timer.cancel();
        try {
          this.#end(run, verdict);
        } finally {
          this.#free(run);
        }
      });
    });
  }

  #timeOut(run: Run): void {
    const { timeoutMs, log, metrics, describe } = this.#options;
    const error = new BowlineError(
      'BOWLINE_RECONCILE_TIMEOUT',
      `the reconcile did not return within ${timeoutMs} ms; its key is blocked until it does: pass the context's signal to everything it awaits`,
    );
    run.overdue = true;
    this.#overdue.add(run);
    metrics.timedOut();
    metrics.failed();
    metrics.finished('error', timeoutMs);
    log.error('reconcile timed out', {
      ...describe(run.item.key),
      reconcileId: run.id,
      error,
      causes: run.item.causes,
    });
    run.abort(error);
    this.#free(run);
  }

  #free(run: Run): void {
    if (!this.#active.delete(run)) return;
    run.onFree?.();
    if (this.#active.size === 0) this.#onIdle?.();
  }

  /**
   * end applies the verdict to the key. A run that ends after its timeout counts as timed out, and the key is retried.
   */
  #end(run: Run, verdict: Verdict): void {
    const { queue, clock, metrics, log, describe } = this.#options;
    const { key, failures } = run.item;
    const tookMs = clock.monotonic() - run.startedAt;
    if (run.overdue) {
      this.#overdue.delete(run);
      const retryInMs = queue.retry(key, { code: 'BOWLINE_RECONCILE_TIMEOUT' });
      queue.done(key);
      log.info('reconcile returned after its timeout', { ...describe(key), reconcileId: run.id, tookMs, retryInMs });
      return;
    }

    let retryInMs: number | undefined;
    if (verdict.next === 'backoff') {
      const soon = verdict.outcome === 'requeue';
      retryInMs = Math.round(queue.retry(key, { range: verdict.range, soon, code: codeOf(verdict.error) }));
    } else {
      queue.forget(key);
      if (verdict.next === 'again' && verdict.afterMs !== undefined) {
        const cause = { by: 'requeue', afterMs: verdict.afterMs } as const;
        queue.add(key, { afterMs: verdict.afterMs, priority: run.item.priority, cause });
      }
    }
    queue.done(key);

    metrics.finished(verdict.outcome, tookMs);
    if (verdict.outcome === 'error') {
      metrics.failed();
      if (verdict.terminal) metrics.failedTerminally();
      if (verdict.panic) metrics.panicked();
    }
    if (verdict.error === undefined) return;
    const fields = {
      ...describe(key),
      reconcileId: run.id,
      error: verdict.error,
      attempt: failures + 1,
      causes: run.item.causes,
    };
    if (verdict.outcome !== 'error') log.debug('reconcile had a conflict, retrying', { ...fields, retryInMs });
    else if (run.isAborted) log.info('reconcile was stopped', fields);
    else if (verdict.terminal) log.error('reconcile failed, not retrying until something changes', fields);
    else log.error('reconcile failed', { ...fields, retryInMs });
  }
}

async function settle(work: () => unknown, failures: number): Promise<Verdict> {
  try {
    return judgeResult(await work());
  } catch (thrown) {
    return judgeError(thrown, failures);
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof BowlineError ? error.code : undefined;
}
