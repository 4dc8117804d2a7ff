import { between, integerBelow, pick, type Random } from '@bowline/machinery';

/**
 * Fault is one thing that can go wrong with a request. `afterLines` counts lines of a watch (or list) that pass
 * unharmed first; it defaults to 0.
 */
export type Fault =
  /** The answer comes late. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The server is never asked; this is the answer. */
  | { readonly kind: 'answer'; readonly status: number; readonly retryAfterSeconds?: number }
  /** The connection is reset (RST): before the server sees the request, or once its answer, or lines of it, are there. */
  | { readonly kind: 'drop'; readonly when: 'before' | 'answer'; readonly afterLines?: number }
  /** Only this HTTP/2 stream is refused, which the client may repeat whatever it is. */
  | { readonly kind: 'refuse-stream' }
  /** The connection stays open and nothing moves on it any more, PING included. */
  | { readonly kind: 'half-open'; readonly afterLines?: number }
  /** The server says that it takes no new streams on this connection; the present ones go on. */
  | { readonly kind: 'goaway' }
  /** Half a line, then a clean end. */
  | { readonly kind: 'truncate'; readonly afterLines?: number }
  /** A clean end. */
  | { readonly kind: 'end'; readonly afterLines?: number }
  /** An ERROR line with a Status of this code, then the end. */
  | { readonly kind: 'watch-error'; readonly code: number; readonly afterLines?: number }
  /** Every bookmark comes twice. */
  | { readonly kind: 'duplicate-bookmark' }
  /** Nothing arrives for a while, then everything: a reader that does not read, or a network that holds back. */
  | { readonly kind: 'stall'; readonly ms: number; readonly afterLines?: number }
  /** Every connection is reset and new ones are refused for a while. */
  | { readonly kind: 'restart'; readonly downMs: number };

/** ProxiedRequest is what a schedule may base its decision on. */
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

/** Schedule decides what happens to a request; undefined lets it pass. */
export type Schedule = (request: ProxiedRequest) => Fault | undefined;

/** SeededFaultsOptions shapes a random schedule. */
export interface SeededFaultsOptions {
  readonly random: Random;
  /** The share of requests that something happens to. Defaults to 0.5. */
  readonly rate?: number;
  /** After so many faults everything passes, so that a test can reach its end. Defaults to 20. */
  readonly most?: number;
  /** The longest delay, stall and restart. Defaults to 100. */
  readonly longestMs?: number;
}

/** seededFaults gives a schedule that the seed decides, apart from the order in which the client asks. */
export function seededFaults(options: SeededFaultsOptions): Schedule {
  const { random, rate = 0.5, most = 20, longestMs = 100 } = options;
  let count = 0;
  const ms = (): number => Math.ceil(between(random, 0, longestMs));
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
    if (count >= most || random.next() >= rate) return undefined;
    count++;
    // A body that is not a watch is one line: what strikes it has to strike at once.
    const kinds = request.isWatch ? [...forAny(later), ...forWatches] : forAny(() => 0);
    return pick(random, kinds)();
  };
}
