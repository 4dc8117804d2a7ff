import { between, type Clock, type Random, systemClock, systemRandom, type Timer } from '@bowline/machinery';
import type { Metrics } from '@bowline/runtime';
import type { AgentService } from '../agent-protocol/agent-service.ts';
import { CODES, errorOfStatus, PROBLEM_KEY } from '../agent-protocol/call-status.ts';
import {
  type AgentMethod,
  type AgentRequest,
  type AgentResponse,
  loadContract,
  loadGrpc,
} from '../agent-protocol/contract.ts';
import type { IdentitySource } from '../agent-protocol/identity-source.ts';
import { TokenError } from '../token/token-error.ts';
import { AgentConnection, type AgentTarget } from './agent-connection.ts';
import { CallMetrics } from './call-metrics.ts';
import { remoteToken } from './remote-token.ts';

/** AgentClientsOptions configures the connections to agents. */
export interface AgentClientsOptions {
  /** The manager's client certificate and the CAs of the agents. */
  readonly identity: Pick<IdentitySource, 'current'>;
  /** The longest duration of a call, with its retries. Defaults to 30 s. */
  readonly callTimeoutMs?: number | undefined;
  /** How long a connection stays open without a call. Defaults to 5 minutes. */
  readonly idleMs?: number | undefined;
  /** How many agents may be connected at a time. Defaults to 1024. */
  readonly maxConnections?: number | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics | undefined;
}

interface Entry {
  readonly connection: AgentConnection;
  idle: Timer | undefined;
}

/** Calls that change nothing. Only these are repeated: a write whose response was lost may have happened. */
const READS: ReadonlySet<AgentMethod> = new Set([
  'GetInfo',
  'ReadSecret',
  'ReadMetadata',
  'ListSecrets',
  'GetChecksum',
  'GetChecksums',
  'IsConnected',
  'Health',
  'ProvePIN',
]);
const MAX_ATTEMPTS = 3;
const FIRST_DELAY_MS = 200;

/**
 * AgentClients calls the agents. Connections are opened by the first call, are replaced when the identity changes, and
 * are closed when they are idle.
 *
 * @example
 * const secret = await agents.agent({ address: '10.0.0.7:9090', serverName }).read('team/database');
 */
export class AgentClients implements Disposable {
  readonly #options: AgentClientsOptions;
  readonly #clock: Clock;
  readonly #metrics: CallMetrics;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #isClosed = false;

  constructor(options: AgentClientsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#metrics = new CallMetrics(options.metrics, this.#clock);
  }

  /** agent returns the token of an agent. It does not connect. */
  agent(target: AgentTarget): AgentService {
    return remoteToken((method, request, signal) => this.#call(target, method, request, signal));
  }

  /** The number of agents that are connected, or were until their connection was lost. */
  get connections(): number {
    return this.#entries.size;
  }

  /** Closes all connections when their calls have ended. Further calls are refused. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const key of [...this.#entries.keys()]) this.#remove(key);
  }

  async #call<M extends AgentMethod>(
    target: AgentTarget,
    method: M,
    request: AgentRequest<M>,
    caller: AbortSignal | undefined,
  ): Promise<AgentResponse<M>> {
    const timeout = new AbortController();
    using _timer = this.#clock.setTimer(this.#options.callTimeoutMs ?? 30_000, () => timeout.abort());
    const signal = caller ? AbortSignal.any([caller, timeout.signal]) : timeout.signal;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#metrics.measure(method, () => this.#attempt(target, method, request, signal));
      } catch (error) {
        if (signal.aborted)
          throw new TokenError('Timeout', `${method} of the agent ${target.address} did not end in time`);
        const failure = error as { code?: unknown };
        const isRepeated = failure.code === CODES.UNAVAILABLE && READS.has(method) && attempt < MAX_ATTEMPTS;
        if (!isRepeated) throw asTokenError(error, target.address);
        await this.#pause(attempt, signal);
      }
    }
  }

  async #pause(attempt: number, signal: AbortSignal): Promise<void> {
    const delayMs = FIRST_DELAY_MS * 2 ** attempt;
    const ms = between(this.#options.random ?? systemRandom, delayMs / 2, delayMs);
    // If it is aborted, the next attempt reports that.
    await this.#clock.sleep(ms, signal).catch(() => undefined);
  }

  async #attempt<M extends AgentMethod>(
    target: AgentTarget,
    method: M,
    request: AgentRequest<M>,
    signal: AbortSignal,
  ): Promise<AgentResponse<M>> {
    const [grpc, contract] = await Promise.all([loadGrpc(), loadContract()]);
    const key = `${target.serverName} ${target.address}`;
    const entry = this.#take(key, (identity) => new AgentConnection(grpc, contract, target, identity));
    try {
      return await entry.connection.call(method, request, signal);
    } finally {
      if (entry.connection.calls === 0 && this.#entries.get(key) === entry) this.#waitUntilIdle(key, entry);
    }
  }

  #take(key: string, open: (identity: AgentConnection['identity']) => AgentConnection): Entry {
    const identity = this.#options.identity.current;
    if (this.#isClosed) throw new TokenError('Unavailable', 'cannot call an agent: the manager stops');
    if (!identity) {
      throw new TokenError('Unavailable', 'cannot call an agent: the manager has no client certificate yet');
    }
    if (this.#entries.get(key)?.connection.identity !== identity) this.#remove(key);
    const existing = this.#entries.get(key);
    if (!existing) this.#makeRoom();
    const entry = existing ?? { connection: open(identity), idle: undefined };
    entry.idle?.cancel();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  #makeRoom(): void {
    const { maxConnections = 1024 } = this.#options;
    if (this.#entries.size < maxConnections) return;
    const unused = [...this.#entries].find(([, { connection }]) => connection.calls === 0);
    if (!unused) throw new TokenError('Busy', `calls of ${maxConnections} agents are in progress; retry later`);
    this.#remove(unused[0]);
  }

  #waitUntilIdle(key: string, entry: Entry): void {
    entry.idle?.cancel();
    entry.idle = this.#clock.setTimer(this.#options.idleMs ?? 300_000, () => this.#remove(key));
  }

  #remove(key: string): void {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    entry?.idle?.cancel();
    entry?.connection.retire();
  }
}

/** asTokenError rebuilds the error of the agent. */
function asTokenError(error: unknown, address: string): unknown {
  if (error instanceof TokenError || !isServiceError(error)) return error;
  const { code, details, metadata } = error;
  return errorOfStatus({ code, details, problem: metadata?.get(PROBLEM_KEY)[0] }, address);
}

interface ServiceErrorLike {
  readonly code: number;
  readonly details: string;
  readonly metadata?: { get(key: string): readonly unknown[] };
}

function isServiceError(error: unknown): error is ServiceErrorLike {
  const { code, details } = (error ?? {}) as Partial<ServiceErrorLike>;
  return typeof code === 'number' && typeof details === 'string';
}
