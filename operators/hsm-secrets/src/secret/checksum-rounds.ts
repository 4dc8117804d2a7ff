import type { Clock } from '@bowline/machinery';
import { BoundedMap } from '@bowline/machinery';
import type { DeviceAgent } from '../agent-client/agent-directory.ts';
import { TokenError } from '../token/token-error.ts';
import type { SecretSummary } from '../token/token-service.ts';

/** ChecksumRequest is a request for the checksum of one path. */
export interface ChecksumRequest {
  readonly path: string;
  /** An answer of a call that began at this monotonic time or later is recent enough. Undefined: only a new call is. */
  readonly since: number | undefined;
  /** paths returns all paths that will soon be asked for too. They are part of the same call. */
  readonly paths: () => Iterable<string>;
}

/** ChecksumAnswer is the summary of a path, undefined if the device has none, or why the device did not answer. */
export type ChecksumAnswer = { readonly summary: SecretSummary | undefined } | { readonly error: TokenError };

interface Round {
  readonly startedAt: number;
  readonly paths: ReadonlySet<string>;
  readonly result: Promise<Map<string, SecretSummary> | TokenError>;
  hasFailed: boolean;
}

interface NextRound {
  readonly paths: Set<string>;
  readonly round: Promise<Round>;
}

/** MAX_PATHS is the maximum number of paths in one call: with the longest paths, a message is smaller than 2 MiB. */
export const MAX_PATHS = 5_000;

const MAX_AGENTS = 4_096;

/** A failure answers all requests that come soon after it, or each HSMSecret would wait for the same timeout. */
const FAILURE_VALID_MS = 5_000;

/**
 * ChecksumRounds asks devices for checksums, with one call for all HSMSecrets that are due. A request that a finished
 * or running call can answer causes no other one; requests that arrive during a call are answered by the next one
 * together.
 */
export class ChecksumRounds {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #latest = new BoundedMap<string, Round>({ maxEntries: MAX_AGENTS });
  readonly #next = new Map<string, NextRound>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** ask returns what an agent answers about a path. It never rejects because of the agent. */
  async ask(agent: DeviceAgent, request: ChecksumRequest): Promise<ChecksumAnswer> {
    const latest = this.#latest.get(agent.podUID);
    const round = latest && this.#answers(latest, request) ? latest : await this.#join(agent, request);
    const result = await round.result;
    return result instanceof TokenError ? { error: result } : { summary: result.get(request.path) };
  }

  /** record replaces what is known about a path by what a later read found. */
  async record({ podUID }: DeviceAgent, summary: SecretSummary): Promise<void> {
    const result = await this.#latest.get(podUID)?.result;
    if (result instanceof Map) result.set(summary.path, summary);
  }

  /** forget makes the next request call an agent again. */
  forget({ podUID }: Pick<DeviceAgent, 'podUID'>): void {
    this.#latest.delete(podUID);
  }

  #answers(round: Round, { path, since }: ChecksumRequest): boolean {
    if (since === undefined || round.startedAt < since || !round.paths.has(path)) return false;
    return !round.hasFailed || this.#clock.monotonic() - round.startedAt < FAILURE_VALID_MS;
  }

  #join(agent: DeviceAgent, { path, paths }: ChecksumRequest): Promise<Round> {
    const next = this.#next.get(agent.podUID) ?? this.#prepare(agent, paths);
    next.paths.add(path);
    return next.round;
  }

  #prepare(agent: DeviceAgent, paths: ChecksumRequest['paths']): NextRound {
    const wanted = new Set<string>();
    const running = this.#latest.get(agent.podUID)?.result ?? Promise.resolve();
    const round = running.then(() => this.#start(agent, new Set([...wanted, ...paths()])));
    const next = { paths: wanted, round };
    this.#next.set(agent.podUID, next);
    return next;
  }

  #start(agent: DeviceAgent, paths: ReadonlySet<string>): Round {
    this.#next.delete(agent.podUID);
    const round: Round = {
      startedAt: this.#clock.monotonic(),
      paths,
      result: callAgent(agent, [...paths]),
      hasFailed: false,
    };
    void round.result.then((result) => {
      round.hasFailed = result instanceof TokenError;
    });
    this.#latest.set(agent.podUID, round);
    return round;
  }
}

async function callAgent(
  { service }: DeviceAgent,
  paths: readonly string[],
): Promise<Map<string, SecretSummary> | TokenError> {
  const summaries = new Map<string, SecretSummary>();
  try {
    for (let from = 0; from < paths.length; from += MAX_PATHS) {
      for (const summary of await service.checksums(paths.slice(from, from + MAX_PATHS)))
        summaries.set(summary.path, summary);
    }
  } catch (error) {
    return tokenErrorOf(error);
  }
  return summaries;
}

/** tokenErrorOf returns the error of a call of an agent. The message of any other error might quote a value. */
export function tokenErrorOf(error: unknown): TokenError {
  if (error instanceof TokenError) return error;
  const name = error instanceof Error ? error.name : typeof error;
  return new TokenError('Unavailable', `the call failed with an unexpected ${name}`);
}
