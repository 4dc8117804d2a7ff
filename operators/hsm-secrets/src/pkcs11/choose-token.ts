import { TokenError } from '../token/token-error.ts';

/** SlotToken is a token in a slot of a PKCS#11 module. */
export interface SlotToken {
  readonly slotId: number;
  readonly label: string;
  readonly serialNumber: string;
  /** Whether a user PIN was ever set. A token without one is blank. */
  readonly isUserPinInitialized: boolean;
}

/** TokenChoice describes the token to use. Everything is optional. */
export interface TokenChoice {
  readonly tokenLabel?: string | undefined;
  /** The serial number of the USB device. Many tokens have another one. */
  readonly serialNumber?: string | undefined;
  /** Changes when a token is initialized, and with some modules whenever a device is plugged in. */
  readonly slotId?: number | undefined;
}

/** Enough to find a mistake; a message has to stay readable. */
const MAX_LISTED = 8;

/**
 * matchingTokens returns the tokens that could be meant. A label must match. Among these, those with the serial number
 * are preferred, then the one in the slot.
 */
export function matchingTokens<T extends SlotToken>(tokens: readonly T[], choice: TokenChoice): readonly T[] {
  const { tokenLabel, serialNumber, slotId } = choice;
  const usable = tokens.filter((token) => token.isUserPinInitialized);
  const labelled = tokenLabel === undefined ? usable : usable.filter(({ label }) => label === tokenLabel);
  const preferred = [
    labelled.filter((token) => serialNumber?.toLowerCase() === token.serialNumber.toLowerCase()),
    labelled.filter((token) => slotId === token.slotId),
  ];
  return preferred.find((found) => found.length > 0) ?? labelled;
}

/** tokenNotFound explains why no token, or more than one, matches. */
export function tokenNotFound(matches: number, tokens: readonly SlotToken[], { tokenLabel }: TokenChoice): TokenError {
  const label = tokenLabel === undefined ? '' : ` with the label ${JSON.stringify(tokenLabel)}`;
  const problem = matches === 0 ? `there is no token${label}` : `there are ${matches} tokens${label}`;
  const remedy = matches === 0 ? 'plug it in, or correct tokenLabel' : 'set tokenLabel or slotId';
  return new TokenError('TokenNotFound', `${problem}; ${remedy}; found: ${describeTokens(tokens)}`);
}

function describeTokens(tokens: readonly SlotToken[]): string {
  const listed = tokens.slice(0, MAX_LISTED).map(({ label, serialNumber, isUserPinInitialized }) => {
    const name = isUserPinInitialized ? JSON.stringify(label) : 'a blank token';
    return `${name} (serial number ${serialNumber || 'unknown'})`;
  });
  if (tokens.length > MAX_LISTED) listed.push(`${tokens.length - MAX_LISTED} more`);
  return listed.length > 0 ? listed.join(', ') : 'none';
}
