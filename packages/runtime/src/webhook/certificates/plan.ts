import type { CertificateState, StateRead } from './certificate-state.ts';
import { type Authority, isIssuedBy, type Leaf, misfit } from './pem.ts';

/** CertificatePolicy says how long certificates live, and for whom. */
export interface CertificatePolicy {
  /** What the API server calls the webhook by; host names and IP addresses. */
  readonly names: readonly string[];
  /** Renewed when a third is left. */
  readonly leafValidForMs: number;
  /** Replaced when a third is left, so at least three times as long as a leaf lives. */
  readonly authorityValidForMs: number;
  /** How long a new authority must have been in every configuration before a leaf of it is served. */
  readonly propagationMs: number;
}

/** Step is the next change to the Secret. */
export type Step =
  /** Write the state as it was read: the Secret is damaged, but nothing is lost. */
  | 'repair'
  /** A leaf, and if need be an authority, at once: there is nothing that could be served. */
  | 'start'
  /** Another leaf from the same authority. */
  | 'renew'
  /** One more authority, which issues nothing until it is trusted everywhere. */
  | 'introduce'
  /** The new authority issues from now on; the old one stays trusted until its last leaf has expired. */
  | 'promote'
  /** Authorities of earlier days are no longer trusted. */
  | 'retire';

/** Plan is what to do now, and when to look again if nothing. */
export type Plan =
  | { readonly step: Step; readonly reason: string }
  | { readonly step: undefined; readonly lookAgainAt: number };

/** Situation is what besides the Secret decides. */
export interface Situation {
  readonly now: number;
  /** Since when every configuration has trusted the next authority without a break; undefined when one does not. */
  readonly nextTrustedSince: number | undefined;
}

/** plan decides the next step. It is a pure function: every replica comes to the same one. */
export function plan(state: StateRead, policy: CertificatePolicy, situation: Situation): Plan {
  const { now, nextTrustedSince } = situation;
  const { leaf, next, previous } = state;
  const current = isAlive(state.current, now) ? state.current : undefined;
  const unfit = leafProblem(leaf, state, policy, now);
  if (unfit) return { step: current ? 'renew' : 'start', reason: unfit };

  const moments: number[] = [];
  if (isAlive(next, now)) {
    const promoteAt = nextTrustedSince === undefined ? undefined : nextTrustedSince + policy.propagationMs;
    if (promoteAt !== undefined && promoteAt <= now) return { step: 'promote', reason: 'the new authority is trusted' };
    if (promoteAt !== undefined) moments.push(promoteAt);
  } else {
    const replaceAt = current ? current.notAfter - policy.authorityValidForMs / 3 : now;
    if (replaceAt <= now) {
      return { step: 'introduce', reason: current ? 'a third of the authority is left' : 'the authority has no key' };
    }
    moments.push(replaceAt);
  }
  if (leaf && current) {
    const renewAt = leaf.notAfter - policy.leafValidForMs / 3;
    const renewed = Math.min(now + policy.leafValidForMs, current.notAfter);
    // One that the authority's own end cuts short gains nothing from being issued again and again.
    const gains = renewed - leaf.notAfter > policy.leafValidForMs / 10;
    if (renewAt <= now && gains) return { step: 'renew', reason: 'a third of the certificate is left' };
    moments.push(renewAt > now ? renewAt : leaf.notAfter);
  } else if (leaf) {
    moments.push(leaf.notAfter);
  }
  if (previous.length > 0) {
    const retireAt = endOfPrevious(state);
    if (retireAt <= now) return { step: 'retire', reason: 'no certificate of an earlier authority is left' };
    moments.push(retireAt);
  }
  if (state.damage.length > 0) return { step: 'repair', reason: state.damage.join(', ') };
  return { step: undefined, lookAgainAt: Math.min(...moments) };
}

/** When no leaf of an earlier authority can be valid any more; without a note of it, when the authorities themselves expire. */
function endOfPrevious({ previous, previousUntil, leaf }: CertificateState): number {
  // While the leaf itself is theirs (its authority's key was lost) they stay.
  if (leaf && previous.some((authority) => isIssuedBy(leaf, authority))) return leaf.notAfter;
  return Math.min(previousUntil ?? Number.POSITIVE_INFINITY, Math.max(...previous.map(({ notAfter }) => notAfter)));
}

function isAlive(authority: Authority | undefined, now: number): authority is Authority {
  return authority !== undefined && authority.notAfter > now;
}

/** leafProblem is why a leaf cannot be served; undefined when it can. */
export function leafProblem(
  leaf: Leaf | undefined,
  state: Pick<CertificateState, 'current' | 'next' | 'previous'>,
  policy: Pick<CertificatePolicy, 'names'>,
  now: number,
): string | undefined {
  if (!leaf) return 'there is no certificate';
  const unfit = misfit(leaf, policy.names, now);
  if (unfit !== undefined) return unfit;
  const issuers = [state.current, state.next, ...state.previous].filter((each) => isAlive(each, now));
  return issuers.some((authority) => isIssuedBy(leaf, authority)) ? undefined : 'its authority is gone or has expired';
}
