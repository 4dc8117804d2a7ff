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
const MAX_NAME_LENGTH = 100;

/** quotedKey returns the name of a key for a message, quoted and truncated to `MAX_NAME_LENGTH` characters. */
export function quotedKey(key: string): string {
  return quoteText(key.length > MAX_NAME_LENGTH ? `${key.slice(0, MAX_NAME_LENGTH)}…` : key);
}
