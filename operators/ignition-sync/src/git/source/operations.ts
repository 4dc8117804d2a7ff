import { between, type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { GitError, type GitErrorReason } from '../errors/git-error.ts';
import type { OperationReport, OperationRequest, OperationState } from './operation.ts';
import { Source, type SourceOperation } from './source.ts';

/** OperationsOptions configures the scheduling of git operations. */
export interface OperationsOptions {
  /** The maximum number of operations at a time. Defaults to 5. */
  readonly concurrency?: number | undefined;
  /** The longest duration of one operation. Defaults to 2 minutes. */
  readonly timeoutMs?: number | undefined;
  /** Called with a user when an operation that it needs has ended: it should call again. */
  readonly notify: (user: string) => void;
  /** Defaults to nothing. */
  readonly observe?: ((report: OperationReport) => void) | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to the system's. */
  readonly random?: Random | undefined;
}

/** UserNeeds collects what a user requests in one run of its reconcile. */
export interface UserNeeds {
  /** request returns the state of an operation, and starts it if necessary. It never waits. */
  request<T>(request: OperationRequest<T>): OperationState<T>;
  /** complete ends the run: operations that the user requested before, and not in this run, are no longer needed by it. */
  complete(): void;
}

/** The share by which the time until the next operation varies. */
const JITTER = 0.1;

/** Failures that concern one ref or commit; the others concern the whole source. */
const OF_ONE_OPERATION: ReadonlySet<GitErrorReason> = new Set([
  'RefNotFound',
  'CommitGone',
  'TooLarge',
  'VerificationFailed',
]);

/**
 * Operations runs git operations for many users: one at a time per source, a limited number in total, the sources in turn. Users
 * of the same operation share its result, and an operation that no user needs any more is aborted. Failures are retried with
 * increasing delays.
 */
export class Operations implements AsyncDisposable {
  readonly #options: OperationsOptions;
  readonly #concurrency: number;
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #sources = new Map<string, Source>();
  /** The operations that each user needs. */
  readonly #users = new Map<string, Set<SourceOperation>>();
  /** Sources with an operation to run, in the order in which they get their turn. */
  readonly #waiting = new Set<Source>();
  readonly #running = new Set<Promise<void>>();
  /** The number of the next operation that starts. */
  #next = 0;
  #isStopped = false;

  constructor(options: OperationsOptions) {
    this.#options = options;
    this.#concurrency = options.concurrency ?? 5;
    this.#timeoutMs = options.timeoutMs ?? 120_000;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
  }

  /** needs begins a run of a user's reconcile. */
  needs(user: string): UserNeeds {
    const requested = new Set<SourceOperation>();
    return {
      request: (request) => {
        const operation = this.#operation(request);
        requested.add(operation);
        this.#add(user, operation);
        return this.#request(user, operation, request);
      },
      complete: () => {
        for (const operation of [...(this.#users.get(user) ?? [])]) {
          if (!requested.has(operation)) this.#remove(user, operation);
        }
      },
    };
  }

  /** release forgets a user that was deleted or paused, and aborts what only it needed. */
  release(user: string): void {
    for (const operation of [...(this.#users.get(user) ?? [])]) this.#remove(user, operation);
  }

  /** The number of sources with an operation that runs or waits. */
  get pending(): number {
    return this.#running.size + [...this.#waiting].filter((source) => !source.running).length;
  }

  /** The number of sources that are kept. */
  get size(): number {
    return this.#sources.size;
  }

  /** Aborts all operations and resolves when they have ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    this.#waiting.clear();
    for (const source of this.#sources.values()) source.running?.controller.abort(stopReason());
    await Promise.all(this.#running);
  }

  #operation(request: OperationRequest<unknown>): SourceOperation {
    let source = this.#sources.get(request.source);
    if (!source) {
      source = new Source(request.source, this.#clock, this.#random);
      this.#sources.set(request.source, source);
    }
    return source.operation(request.name);
  }

  #add(user: string, operation: SourceOperation): void {
    const held = this.#users.get(user) ?? new Set();
    held.add(operation);
    this.#users.set(user, held);
  }

  #request<T>(user: string, operation: SourceOperation, request: OperationRequest<T>): OperationState<T> {
    const { item = '', maxAgeMs = Number.POSITIVE_INFINITY, trigger, run } = request;
    operation.run = run;
    operation.setUser(user, item, trigger, this.#next);
    const result = operation.results.get(item);
    const previous = result?.value as T | undefined;
    if (result !== undefined && result.number >= operation.firstValid(user)) {
      const dueAfterMs = result.endedAt + maxAgeMs * result.jitter - this.#clock.monotonic();
      if (dueAfterMs > 0) return { state: 'done', value: previous, dueAfterMs };
    }
    if (operation === operation.source.running?.operation) return { state: 'pending', previous };
    const failure = operation.failure();
    if (failure) return { state: 'failed', ...failure, previous };
    operation.isWanted = true;
    this.#waiting.add(operation.source);
    this.#startNext();
    return { state: 'pending', previous };
  }

  #remove(user: string, operation: SourceOperation): void {
    const held = this.#users.get(user);
    held?.delete(operation);
    if (held?.size === 0) this.#users.delete(user);
    operation.users.delete(user);
    if (operation.users.size > 0) return;
    const { source } = operation;
    source.drop(operation);
    if (source.running?.operation === operation) source.running.controller.abort(stopReason());
    if (source.isUnused) {
      this.#sources.delete(source.key);
      this.#waiting.delete(source);
    }
  }

  #startNext(): void {
    if (this.#isStopped) return;
    for (const source of this.#waiting) {
      if (this.#running.size >= this.#concurrency) return;
      if (source.running) continue;
      this.#waiting.delete(source);
      const operation = source.next();
      if (!operation) continue;
      if (source.hasWanted) this.#waiting.add(source);
      const running = this.#execute(operation).finally(() => {
        this.#running.delete(running);
        this.#startNext();
      });
      this.#running.add(running);
    }
  }

  async #execute(operation: SourceOperation): Promise<void> {
    const { source } = operation;
    const controller = new AbortController();
    const startedAt = this.#clock.monotonic();
    const number = this.#next++;
    const items = operation.items;
    source.running = { operation, controller };
    using _timeout = this.#clock.setTimer(this.#timeoutMs, () => controller.abort(timeoutError(this.#timeoutMs)));
    let result = 'ok';
    try {
      const values = await operation.run(controller.signal, items);
      // Results count also for a user that no longer needs them: they were paid for.
      const jitter = between(this.#random, 1 - JITTER, 1 + JITTER);
      // The end counts: an operation may take longer than the time until the next one.
      const endedAt = this.#clock.monotonic();
      for (const item of items) operation.results.set(item, { endedAt, number, jitter, value: values.get(item) });
      operation.succeeded();
    } catch (error) {
      result = resultOf(error, controller.signal);
      if (result !== 'cancelled')
        operation.failed(error, error instanceof GitError && OF_ONE_OPERATION.has(error.reason));
    }
    source.running = undefined;
    // What else it has to do comes after the sources that waited meanwhile.
    if (this.#waiting.delete(source)) this.#waiting.add(source);
    this.#options.observe?.({
      operation: operation.name.split(' ', 1)[0] ?? '',
      result,
      durationMs: this.#clock.monotonic() - startedAt,
      users: operation.users.size,
    });
    if (source.isUnused) this.#sources.delete(source.key);
    // A copy: a user may release others.
    if (!this.#isStopped) for (const user of [...operation.users.keys()]) this.#options.notify(user);
  }
}

function resultOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof GitError) return error.reason;
  return signal.aborted ? 'cancelled' : 'error';
}

function stopReason(): Error {
  return new Error('no user needs the operation any more');
}

function timeoutError(timeoutMs: number): GitError {
  return new GitError('Timeout', `the operation did not finish within ${timeoutMs / 1_000} s`, {
    remedy: 'increase gitTimeout if the repository is large; it is retried',
  });
}
