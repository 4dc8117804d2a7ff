/**
 * HttpProblem is a request that gets an HTTP status instead of a review. To the API server every such answer is a failed
 * call, so the webhook's failurePolicy decides what becomes of the request.
 */
export class HttpProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'HttpProblem';
    this.status = status;
  }
}
