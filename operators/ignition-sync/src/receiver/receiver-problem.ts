/** ReceiverProblem is an error that is returned to the sender of a webhook. Its message quotes nothing of the request. */
export class ReceiverProblem extends Error {
  override readonly name = 'ReceiverProblem';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
