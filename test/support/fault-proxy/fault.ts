import { between, integerBelow, pick, type Random } from '@bowline/machinery';

/**
 * Fault is a fault of one request. `afterLines` is the number of lines of a watch (or list) that pass first; it defaults to 0.
 */
export type Fault =
  /** The response is delayed. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The request is not forwarded; this is the response. */
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfterSeconds?: number }
  /** The connection is reset (RST): before the server sees the request, or after its response, or after lines of it. */
  | { readonly kind: 'drop'; readonly when: 'before' | 'answer'; readonly afterLines?: number }
  /** Only this HTTP/2 stream is refused, which the client may always retry. */
  | { readonly kind: 'refuse-stream' }
  /** The connection stays open but carries nothing any more, not even PINGs. */
  | { readonly kind: 'half-open'; readonly afterLines?: number }
  /** The server accepts no new streams on this connection; the present ones continue. */
  | { readonly kind: 'goaway' }
  /** Half a line, then a clean end. */
  | { readonly kind: 'truncate'; readonly afterLines?: number }
  /** A clean end. */
  | { readonly kind: 'end'; readonly afterLines?: number }
  /** An ERROR line with a Status of this code, then the end. */
  | { readonly kind: 'watch-error'; readonly code: number; readonly afterLines?: number }
  /** Every bookmark comes twice. */
  | { readonly kind: 'duplicate-bookmark' }
  /** Nothing arrives for a while, then everything: a stalled reader or a network that delays packets. */
  | { readonly kind: 'stall'; readonly ms: number; readonly afterLines?: number }
  /** Every connection is reset and new ones are refused for a while. */
  | { readonly kind: 'restart'; readonly downMs: number };

/** ProxiedRequest is the input of a schedule. */
export interface ProxiedRequest {
  /** The endpoint it came through. */
  readonly client: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly isWatch: boolean;
  /** Counts the proxy's requests from 1. */
  readonly number: number;
}

/** Schedule decides the fault of a request; undefined for none. */
export type Schedule = (request: ProxiedRequest) => Fault | undefined;

/** SeededFaultsOptions configures a random schedule. */
export interface SeededFaultsOptions {
  readonly random: Random;
  /** The fraction of requests with a fault. Defaults to 0.5. */
  readonly rate?: number;
  /** After this many faults everything passes, so that a test can complete. Defaults to 20. */
  readonly maxFaults?: number;
  /** The maximum delay, stall and restart. Defaults to 100. */
  readonly maxDelayMs?: number;
}

/** seededFaults returns a schedule determined by the seed and the order of the client's requests. */
export function seededFaults(options: SeededFaultsOptions): Schedule {
  const { random, rate = 0.5, maxFaults = 20, maxDelayMs = 100 } = options;
  let count = 0;
  const ms = (): number => Math.ceil(between(random, 0, maxDelayMs));
  const later = (): number => integerBelow(random, 6);
  const forAny = (afterLines: () => number): readonly (() => Fault)[] => [
    () => ({ kind: 'delay', ms: ms() }),
    () => ({ kind: 'answer', status: pick(random, [409, 410, 500, 503]) }),
    () => ({ kind: 'answer', status: 429, retryAfterSeconds: 0 }),
    () => ({ kind: 'drop', when: pick(random, ['before', 'answer']), afterLines: afterLines() }),
    () => ({ kind: 'refuse-stream' }),
    () => ({ kind: 'half-open', afterLines: afterLines() }),
    () => ({ kind: 'goaway' }),
    () => ({ kind: 'stall', ms: ms(), afterLines: afterLines() }),
    () => ({ kind: 'restart', downMs: ms() }),
  ];
  const forWatches: readonly (() => Fault)[] = [
    () => ({ kind: 'truncate', afterLines: later() }),
    () => ({ kind: 'end', afterLines: later() }),
    () => ({ kind: 'watch-error', code: pick(random, [410, 410, 500]), afterLines: later() }),
    () => ({ kind: 'duplicate-bookmark' }),
  ];
  return (request) => {
    if (count >= maxFaults || random.next() >= rate) return undefined;
    count++;
    // A body that is not a watch is one line: its fault has to apply immediately.
    const kinds = request.isWatch ? [...forAny(later), ...forWatches] : forAny(() => 0);
    return pick(random, kinds)();
  };
}
