import { BowlineError } from '@bowline/machinery';

/**
 * GatewayProblem is the kind of a failed call: no response in time, a status that the client explains, another status, a
 * response that cannot be read, or an API key that cannot be sent.
 */
export type GatewayProblem =
  | 'unreachable'
  | 'unauthorized'
  | 'forbidden'
  | 'notFound'
  | 'refused'
  | 'failing'
  | 'invalidResponse'
  | 'apiKey';

/**
 * GatewayError is a call of the gateway that failed. Its message contains neither the API key nor anything of the
 * response but its status: a response might repeat the key.
 */
export class GatewayError extends BowlineError {
  readonly problem: GatewayProblem;
  /** Undefined without a response. */
  readonly status: number | undefined;

  constructor(problem: GatewayProblem, message: string, status?: number) {
    const retryable = problem === 'unreachable' || problem === 'failing';
    super('BOWLINE_IGNITION_GATEWAY', message, { retryable });
    this.problem = problem;
    this.status = status;
  }
}

/** statusError returns the error for a response with a status other than 2xx. */
export function statusError(call: string, status: number): GatewayError {
  const [problem, remedy] = explain(status);
  return new GatewayError(problem, `cannot ${call}: HTTP status ${status}; ${remedy}`, status);
}

function explain(status: number): readonly [GatewayProblem, string] {
  if (status === 401)
    return [
      'unauthorized',
      'the gateway does not accept the API key: it must be name:secret, as shown when the key was created, and the gateway refuses keys over plain HTTP unless the key allows it',
    ];
  if (status === 403)
    return ['forbidden', 'the permission level of the API key is too low; give the key the permission level Write'];
  if (status === 404) return ['notFound', 'check that the port is that of an Ignition gateway, version 8.3 or later'];
  if (status >= 500) return ['failing', 'see the log of the gateway'];
  return ['refused', 'see the log of the gateway'];
}
