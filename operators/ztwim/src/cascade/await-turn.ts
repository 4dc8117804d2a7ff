import { parseTime } from '@bowline/machinery';
import type { IdentityHistory } from '../spire/identity-history.ts';

/** How long an operand waits for its turn when the trust domain changes. */
const MAX_WAIT_MS = 120_000;
const POLL_MS = 2_000;

/** Turn is what decides whether an operand may use another trust domain. */
export interface Turn {
  /** The trust domain that the operand should use. */
  readonly wanted: string;
  /** The trust domain in its present file. Undefined: it has none, as in a first install. */
  readonly rendered: string | undefined;
  readonly history: IdentityHistory | undefined;
  readonly now: number;
}

/** TurnResult is whether an operand may act. */
export type TurnResult =
  | { readonly type: 'act' }
  | { readonly type: 'overdue'; readonly message: string }
  | { readonly type: 'wait'; readonly message: string; readonly requeueAfterMs: number };

/**
 * awaitTurn decides whether an operand may use another trust domain: after those that it gets its identity from, or after
 * two minutes. `isReady` reports whether they are ready, and is called only if that matters. Before the server has begun,
 * there is no limit: it may have to wait for a user.
 */
export async function awaitTurn(
  turn: Turn,
  provider: string,
  isReady: () => boolean | Promise<boolean>,
): Promise<TurnResult> {
  const { wanted, rendered, history, now } = turn;
  if (rendered === undefined || rendered === wanted || history === undefined) return { type: 'act' };
  const message = `waiting until ${provider} uses the trust domain ${wanted}`;
  if (history.trustDomain.current !== wanted) return { type: 'wait', message, requeueAfterMs: POLL_MS };
  if (await isReady()) return { type: 'act' };
  const { changedAt } = history.trustDomain;
  const deadline = (changedAt === undefined ? now : parseTime(changedAt)) + MAX_WAIT_MS;
  if (now >= deadline) {
    return {
      type: 'overdue',
      message: `${provider} does not use the trust domain ${wanted} after two minutes; continuing without waiting for it`,
    };
  }
  return { type: 'wait', message, requeueAfterMs: Math.min(POLL_MS, deadline - now) };
}

/** trustDomainOf returns the trust domain in a rendered file; undefined if there is no such file. */
export function trustDomainOf(
  text: string | undefined,
  section: 'server' | 'agent' | 'workload_api',
): string | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = JSON.parse(text) as Partial<Record<string, { readonly trust_domain?: unknown }>>;
    const domain = parsed[section]?.trust_domain;
    return typeof domain === 'string' ? domain : undefined;
  } catch {
    // Somebody edited it; it is about to be repaired.
    return undefined;
  }
}
