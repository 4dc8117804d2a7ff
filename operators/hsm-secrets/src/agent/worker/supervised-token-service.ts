import { realpathSync } from 'node:fs';
import { type Clock, systemClock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { silentLog } from '@bowline/runtime/manager';
import type { AgentStatus } from '../../agent-protocol/agent-service.ts';
import { TokenError } from '../../token/token-error.ts';
import type {
  MetadataInput,
  SecretData,
  SecretMetadata,
  SecretSummary,
  StoredSecret,
  TokenService,
  TokenStatus,
  WriteOptions,
} from '../../token/token-service.ts';
import type { UnexpectedError } from '../describe-unexpected.ts';
import { RestartDelay } from '../restart-delay.ts';
import { unlessAborted } from '../unless-aborted.ts';
import type { ProvisionedToken, WorkerConfig, WorkerMethod } from './worker-messages.ts';
import { type WorkerCommand, type WorkerEnd, WorkerProcess } from './worker-process.ts';

/** SupervisedTokenServiceOptions configures the worker process. */
export interface SupervisedTokenServiceOptions {
  readonly config: WorkerConfig;
  /** Defaults to the hidden command of this program. */
  readonly command?: WorkerCommand | undefined;
  /** The longest duration of a call in the worker, and of its start. Defaults to 20 s. */
  readonly callTimeoutMs?: number | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
}

/**
 * SupervisedTokenService is a token in a child process, because a PKCS#11 module may block or crash its process. Calls
 * are executed one at a time. A worker that hangs is killed and replaced at once; one that crashes, after a delay.
 */
export class SupervisedTokenService implements TokenService {
  readonly #options: SupervisedTokenServiceOptions;
  readonly #clock: Clock;
  readonly #log: Log;
  #worker: WorkerProcess | undefined;
  #wasProvisioned = false;
  /** Settles when the last call that was requested has ended. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: SupervisedTokenServiceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? silentLog;
  }

  /** The id of the worker process; undefined while none runs. */
  get workerPid(): number | undefined {
    return this.#worker?.pid;
  }

  /** run keeps a worker running until the signal is aborted. It resolves when the worker has ended. */
  async run(signal: AbortSignal): Promise<void> {
    const delay = new RestartDelay(this.#clock);
    while (!signal.aborted) {
      delay.started();
      const { hasHung, cause, crash } = await this.#runWorker(signal);
      if (signal.aborted) return;
      // A hang is rare by itself: it takes as long as a call may take.
      const delayMs = hasHung ? 0 : delay.afterEnd();
      const message = hasHung ? 'worker did not respond, restarting it' : 'worker ended, restarting it';
      this.#log.error(message, { cause, delayMs, ...crash });
      if (delayMs > 0) await this.#clock.sleep(delayMs, signal).catch(() => undefined);
    }
  }

  async #runWorker(signal: AbortSignal): Promise<WorkerEnd> {
    const { command = defaultCommand(), config, callTimeoutMs: timeoutMs = 20_000 } = this.#options;
    const onProvisioned = (token: ProvisionedToken): void => {
      this.#wasProvisioned = true;
      this.#log.warn('initialized a blank token', { ...token });
    };
    const onUnexpected = (error: UnexpectedError): void => this.#log.error('worker failed unexpectedly', { ...error });
    const callbacks = { onProvisioned, onUnexpected };
    const worker = new WorkerProcess({ command, config, clock: this.#clock, timeoutMs, ...callbacks });
    void worker.ready.then((coreDumps) => {
      if (coreDumps === 'on') this.#log.warn('core dumps of the worker cannot be disabled on this system');
    });
    this.#worker = worker;
    const stop = (): void => void worker.stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      return await worker.ended;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#worker = undefined;
    }
  }

  async status(signal?: AbortSignal): Promise<AgentStatus> {
    return await this.#statusOf('status', signal);
  }

  async retryPin(signal?: AbortSignal): Promise<AgentStatus> {
    return await this.#statusOf('retryPin', signal);
  }

  read(path: string, signal?: AbortSignal): Promise<StoredSecret> {
    return this.#call('read', [path], signal);
  }

  write(
    path: string,
    data: SecretData,
    metadata: MetadataInput,
    options?: WriteOptions,
    signal?: AbortSignal,
  ): Promise<SecretSummary> {
    return this.#call('write', [path, data, metadata, options], signal);
  }

  remove(path: string, key: string | undefined, options?: WriteOptions, signal?: AbortSignal): Promise<SecretSummary> {
    return this.#call('remove', [path, key, options], signal);
  }

  purge(path: string, version: number, signal?: AbortSignal): Promise<void> {
    return this.#call('purge', [path, version], signal);
  }

  metadata(path: string, signal?: AbortSignal): Promise<SecretMetadata> {
    return this.#call('metadata', [path], signal);
  }

  list(prefix: string, signal?: AbortSignal): Promise<readonly SecretSummary[]> {
    return this.#call('list', [prefix], signal);
  }

  changePin(newPin: Buffer, signal?: AbortSignal): Promise<void> {
    return this.#call('changePin', [newPin], signal);
  }

  provePin(nonce: Buffer, signal?: AbortSignal): Promise<Buffer> {
    return this.#call('provePin', [nonce], signal);
  }

  async #statusOf(method: 'status' | 'retryPin', signal: AbortSignal | undefined): Promise<AgentStatus> {
    try {
      const status = await this.#call<TokenStatus>(method, [], signal);
      return { ...status, wasProvisioned: this.#wasProvisioned };
    } catch (error) {
      if (!(error instanceof TokenError) || signal?.aborted) throw error;
      const problem = { reason: error.problem, message: error.message };
      const wasProvisioned = this.#wasProvisioned;
      return { token: undefined, isLoggedIn: false, problem, isSimulated: false, wasProvisioned };
    }
  }

  /** A caller that gives up gets its error at once; the worker is free when the call has really ended. */
  #call<T>(method: WorkerMethod, args: readonly unknown[], signal: AbortSignal | undefined): Promise<T> {
    const cancelled = (): TokenError => new TokenError('Timeout', 'the call was cancelled');
    const turn = this.#last.then(async () => {
      if (signal?.aborted) throw cancelled();
      if (!this.#worker) throw new TokenError('Unavailable', 'the worker process is being restarted; retry later');
      // The worker has the same method of the same interface.
      return (await callOf(this.#worker, method, args)) as T;
    });
    this.#last = turn.catch(() => undefined);
    return unlessAborted(turn, signal, cancelled);
  }
}

/** callOf makes the next call wait until a worker that hung has been replaced. */
async function callOf(worker: WorkerProcess, method: WorkerMethod, args: readonly unknown[]): Promise<unknown> {
  try {
    return await worker.call(method, args);
  } finally {
    if (worker.hasHung) {
      await worker.ended;
      // `run` starts the other one as soon as it notices.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/**
 * The command line starts `agent-worker` without its other commands. It may have been started through a link, such as
 * that of a kubectl plugin.
 */
function defaultCommand(): WorkerCommand {
  const main = realpathSync(process.argv[1] ?? '');
  return { program: process.execPath, args: [...process.execArgv, main, 'hsm-secrets', 'agent-worker'] };
}
