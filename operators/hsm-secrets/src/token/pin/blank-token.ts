import type { TokenFlags } from '../token.ts';

/**
 * blankTokenToProvision returns the token that may be initialized: the only one without a user PIN, and only as long as
 * no other token was chosen. Initializing a token destroys its content, so in any doubt there is none.
 */
export function blankTokenToProvision<T extends TokenFlags>(
  tokens: readonly T[],
  chosen: T | undefined,
): T | undefined {
  const [blank, ...others] = tokens.filter((token) => !token.isUserPinInitialized);
  return others.length === 0 && (chosen === undefined || chosen === blank) ? blank : undefined;
}
