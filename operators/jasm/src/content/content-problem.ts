import { quoteText } from '@bowline/machinery';

/** ContentProblem says why a secret cannot become the data of a Secret. Its message holds no values; key names are not values. */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
  readonly reason: 'SecretParseFailed' | 'SecretKeyMissing' | 'SecretKeyInvalid' | 'SecretTooLarge';

  constructor(reason: ContentProblem['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The key of a source may be as long as its author likes. */
const LONGEST_NAME = 100;

/** quotedKey is the name of a key for a message: quoted, and not endless. */
export function quotedKey(key: string): string {
  return quoteText(key.length > LONGEST_NAME ? `${key.slice(0, LONGEST_NAME)}…` : key);
}
