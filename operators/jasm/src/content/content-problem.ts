/** ContentProblem says why a secret cannot become the data of a Secret. Its message holds no values; key names are not values. */
export class ContentProblem extends Error {
  override readonly name = 'ContentProblem';
  readonly reason: 'SecretParseFailed' | 'SecretKeyMissing' | 'SecretKeyInvalid' | 'SecretTooLarge';

  constructor(reason: ContentProblem['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}
