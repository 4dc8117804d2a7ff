import { quoteText } from '@bowline/machinery';

/**
 * ContentProblem reports why a secret cannot become the data of a Secret. Its message contains no values; key names are
 * not values.
 */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
  readonly reason: 'SecretParseFailed' | 'SecretKeyMissing' | 'SecretKeyInvalid' | 'SecretTooLarge';

  constructor(reason: ContentProblem['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The key of a source has no maximum length. */
const LONGEST_NAME = 100;

/** quotedKey returns the name of a key for a message, quoted and truncated to `LONGEST_NAME` characters. */
export function quotedKey(key: string): string {
  return quoteText(key.length > LONGEST_NAME ? `${key.slice(0, LONGEST_NAME)}…` : key);
}
