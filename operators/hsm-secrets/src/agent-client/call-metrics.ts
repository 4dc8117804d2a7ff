import type { Clock } from '@bowline/machinery';
import type { Counter, Histogram, Metrics } from '@bowline/runtime';
import { codeName } from '../agent-protocol/call-status.ts';
import { AGENT_METHODS, type AgentMethod } from '../agent-protocol/contract.ts';

/** From a call of a token on the same machine to the timeout. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** CallMetrics counts and measures the calls of agents. */
export class CallMetrics {
  readonly #clock: Clock;
  readonly #calls: Counter | undefined;
  readonly #duration: Histogram | undefined;

  constructor(metrics: Metrics | undefined, clock: Clock) {
    this.#clock = clock;
    this.#calls = metrics?.counter({
      name: 'hsm_agent_calls_total',
      help: 'Calls of agents, by method and gRPC status code.',
      labels: ['method', 'code'],
    });
    this.#duration = metrics?.histogram({
      name: 'hsm_agent_call_duration_seconds',
      help: 'Duration of the calls of agents.',
      labels: ['method'],
      buckets: BUCKETS,
    });
    for (const method of AGENT_METHODS) {
      this.#calls?.add({ method, code: 'OK' }, 0);
      this.#duration?.zero?.({ method });
    }
  }

  /** measure records how a call ends, and after which time. */
  async measure<T>(method: AgentMethod, call: () => Promise<T>): Promise<T> {
    const startedAt = this.#clock.monotonic();
    let code = 'OK';
    try {
      return await call();
    } catch (error) {
      code = codeName(error);
      throw error;
    } finally {
      this.#calls?.add({ method, code });
      this.#duration?.observe((this.#clock.monotonic() - startedAt) / 1_000, { method });
    }
  }
}
