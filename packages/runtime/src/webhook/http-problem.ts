/**
 * HttpProblem is an error that is returned as an HTTP status instead of a review. The API server treats every such
 * response as a failed call, so the webhook's failurePolicy applies.
 */
export class HttpProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'HttpProblem';
    this.status = status;
  }
}
