import type { CertificateUsage } from '@bowline/machinery';
import type { CertificateState, StateRead } from './certificate-state.ts';
import { type Authority, isIssuedBy, type Leaf, leafMismatch } from './pem.ts';

/** CertificatePolicy configures lifetimes and names of certificates. */
export interface CertificatePolicy {
  /** The common name of a CA. */
  readonly authorityName: string;
  /** The common name of a leaf, at most 64 characters. */
  readonly leafName: string;
  readonly usages: readonly CertificateUsage[];
  /** The names for which the leaf is valid: host names and IP addresses. */
  readonly names: readonly string[];
  /** Renewed when a third of it is left. */
  readonly leafValidForMs: number;
  /** Replaced when a third of it is left, so it must be at least three times the lifetime of a leaf. */
  readonly authorityValidForMs: number;
  /** How long a new CA must have been in every bundle before one of its leaves is served. */
  readonly propagationMs: number;
  /** Whether the CA also issues leaves outside of this Secret. Then it stays trusted as long as one may be valid. */
  readonly issuesOtherLeaves: boolean;
}

/** Step is the next change to the Secret. */
export type Step =
  /** Rewrite the state as it was read: the Secret is damaged, but nothing is lost. */
  | 'repair'
  /** Issue a leaf, and a CA if necessary, immediately: there is nothing to serve. */
  | 'start'
  /** Issue another leaf from the same CA. */
  | 'renew'
  /** Add a CA, which issues nothing until it is trusted everywhere. */
  | 'introduce'
  /** Issue from the new CA from now on; the old one stays trusted until its last leaf has expired. */
  | 'promote'
  /** Remove previous CAs from the trusted ones. */
  | 'retire';

/** Plan is the step to take now, or the time of the next check. */
export type Plan =
  | { readonly step: Step; readonly reason: string }
  | { readonly step: undefined; readonly nextCheckAt: number };

/** Situation holds the inputs of the decision besides the Secret. */
export interface Situation {
  readonly now: number;
  /** Since when every bundle has contained the next CA without interruption; undefined if one does not. */
  readonly nextTrustedSince: number | undefined;
}

/** plan decides the next step. It is a pure function: every replica comes to the same decision. */
export function plan(state: StateRead, policy: CertificatePolicy, situation: Situation): Plan {
  const { now, nextTrustedSince } = situation;
  const { leaf, next, previous } = state;
  const current = isAlive(state.current, now) ? state.current : undefined;
  const mismatch = leafProblem(leaf, state, policy, now);
  if (mismatch) return { step: current ? 'renew' : 'start', reason: mismatch };

  const checkTimes: number[] = [];
  if (isAlive(next, now)) {
    const promoteAt = nextTrustedSince === undefined ? undefined : nextTrustedSince + policy.propagationMs;
    if (promoteAt !== undefined && promoteAt <= now) return { step: 'promote', reason: 'the new CA is trusted' };
    if (promoteAt !== undefined) checkTimes.push(promoteAt);
  } else {
    const replaceAt = current ? current.notAfter - policy.authorityValidForMs / 3 : now;
    if (replaceAt <= now) {
      return { step: 'introduce', reason: current ? 'a third of the lifetime of the CA is left' : 'the CA has no key' };
    }
    checkTimes.push(replaceAt);
  }
  if (leaf && current) {
    const { isDue, checkAt } = renewal(leaf, current, policy.leafValidForMs, now);
    if (isDue) return { step: 'renew', reason: 'a third of the lifetime of the certificate is left' };
    checkTimes.push(checkAt);
  } else if (leaf) {
    checkTimes.push(leaf.notAfter);
  }
  if (previous.length > 0) {
    const retireAt = endOfPrevious(state);
    if (retireAt <= now) return { step: 'retire', reason: 'no certificate of a previous CA is left' };
    checkTimes.push(retireAt);
  }
  if (state.damage.length > 0) return { step: 'repair', reason: state.damage.join(', ') };
  return { step: undefined, nextCheckAt: Math.min(...checkTimes) };
}

/** renewal returns whether a valid leaf should be renewed from a CA now, or else when to check again. */
export function renewal(
  leaf: Leaf,
  authority: Authority,
  leafValidForMs: number,
  now: number,
): { readonly isDue: boolean; readonly checkAt: number } {
  const renewAt = leaf.notAfter - leafValidForMs / 3;
  const renewed = Math.min(now + leafValidForMs, authority.notAfter);
  // Issuing a leaf repeatedly does not help if its lifetime is limited by that of the CA.
  const isLongerLived = renewed - leaf.notAfter > leafValidForMs / 10;
  return { isDue: renewAt <= now && isLongerLived, checkAt: renewAt > now ? renewAt : leaf.notAfter };
}

/** When no leaf of a previous CA can be valid any more; if that is not recorded, when the CAs themselves expire. */
function endOfPrevious({ previous, previousUntil, leaf }: CertificateState): number {
  // Previous CAs stay while the leaf itself is theirs (its CA's key was lost).
  if (leaf && previous.some((authority) => isIssuedBy(leaf, authority))) return leaf.notAfter;
  return Math.min(previousUntil ?? Number.POSITIVE_INFINITY, Math.max(...previous.map(({ notAfter }) => notAfter)));
}

/** isAlive reports whether a CA exists and has not expired. */
export function isAlive(authority: Authority | undefined, now: number): authority is Authority {
  return authority !== undefined && authority.notAfter > now;
}

/** leafProblem returns why a leaf cannot be served, or undefined if it can. */
export function leafProblem(
  leaf: Leaf | undefined,
  state: Pick<CertificateState, 'current' | 'next' | 'previous'>,
  policy: Pick<CertificatePolicy, 'names'>,
  now: number,
): string | undefined {
  if (!leaf) return 'there is no certificate';
  const mismatch = leafMismatch(leaf, policy.names, now);
  if (mismatch !== undefined) return mismatch;
  const issuers = [state.current, state.next, ...state.previous].filter((each) => isAlive(each, now));
  return issuers.some((authority) => isIssuedBy(leaf, authority)) ? undefined : 'its CA is missing or has expired';
}
