/**
 * ContentProblem reports why no content can be computed from a source: the spec does not fit it, or the result is
 * larger than a ConfigMap may be. It recurs until the spec or the source changes.
 */
export class ContentProblem extends Error {
  readonly reason: 'InvalidSpec' | 'TooLarge';
  /** The path of the field at fault: `spec.transforms[1].rename`. */
  readonly field: string;

  constructor(reason: 'InvalidSpec' | 'TooLarge', field: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ContentProblem';
    this.reason = reason;
    this.field = field;
  }
}
