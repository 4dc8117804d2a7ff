import type { TokenFlags } from '../token.ts';
import type { TokenProblem } from '../token-error.ts';

/** PinHistory describes what is known about a PIN: whether it was tried, and whether the token refused it. */
export type PinHistory =
  | 'missing'
  | 'untried'
  /** A login with it was interrupted; the token may have counted it as wrong. */
  | 'unknown'
  | 'refused';

/** LoginInput holds the facts that decide whether a PIN may be tried. */
export interface LoginInput {
  readonly flags: TokenFlags;
  /** The current PIN. */
  readonly current: PinHistory;
  /** The PIN that is about to become the current one. */
  readonly next: PinHistory;
  /** Whether a wrong PIN that the flags report can be our own earlier attempt with another PIN. */
  readonly hasOtherAttempts: boolean;
  /** Whether the current PIN was refused by this very login, and the token reported no wrong PIN before it. */
  readonly isOwnLowCount: boolean;
  /** Whether a user or the manager requested the attempt. */
  readonly isForced: boolean;
}

/** LoginDecision is the PIN to try, or the reason not to try any. */
export type LoginDecision = { readonly pin: 'current' | 'next' } | { readonly problem: TokenProblem };

/**
 * decideLogin decides whether to log in, so that no version of a PIN is tried twice and the token is never locked. A
 * PIN counts as tried from the moment before the attempt.
 */
export function decideLogin(input: LoginInput): LoginDecision {
  const { flags, current, next } = input;
  if (!flags.isUserPinInitialized) return { problem: 'TokenNotFound' };
  if (flags.isPinLocked) return { problem: 'PINLocked' };
  if (current === 'missing') return { problem: 'PINMissing' };
  if (input.isForced) return { pin: 'current' };
  if (flags.isPinFinalTry) return { problem: 'PINFinalTry' };
  switch (current) {
    case 'untried':
      // A low count that is not ours means that another program has the wrong PIN, or that this one is wrong and was
      // tried before the record of attempts was lost.
      return flags.isPinCountLow && !input.hasOtherAttempts ? { problem: 'PINUncertain' } : { pin: 'current' };
    case 'unknown':
      return { problem: 'PINUncertain' };
    case 'refused':
      return next === 'untried' && (!flags.isPinCountLow || input.isOwnLowCount)
        ? { pin: 'next' }
        : { problem: 'PINIncorrect' };
  }
}
