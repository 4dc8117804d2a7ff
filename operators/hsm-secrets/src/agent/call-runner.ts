import type { Clock } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import type { handleUnaryCall } from '@grpc/grpc-js';
import { CODES, PROBLEM_KEY, statusOfError } from '../agent-protocol/call-status.ts';
import type { Grpc } from '../agent-protocol/contract.ts';
import { isCertificateFor } from '../agent-protocol/is-certificate-for.ts';
import { MANAGER_NAME } from '../api/names.ts';
import { TokenError } from '../token/token-error.ts';
import { describeUnexpected } from './describe-unexpected.ts';
import { unlessAborted } from './unless-aborted.ts';

/** CallRunnerOptions configures the limits of calls. */
export interface CallRunnerOptions {
  readonly grpc: Grpc;
  readonly clock: Clock;
  readonly log: Log;
  /** Defaults to 64. */
  readonly maxCalls?: number | undefined;
  /** Defaults to 30 s. */
  readonly callTimeoutMs?: number | undefined;
}

/** CallRunner authorizes calls, limits their number and their duration, and reports their errors as a status. */
export class CallRunner {
  readonly #options: CallRunnerOptions;
  readonly #maxCalls: number;
  readonly #timeoutMs: number;
  /** Calls whose work has not ended, also if their caller has already got an error. */
  #running = 0;
  /** The last certificate of the manager. To parse it for each call would take a fifth of the time of an agent. */
  #accepted: Buffer | undefined;

  constructor(options: CallRunnerOptions) {
    this.#options = options;
    this.#maxCalls = options.maxCalls ?? 64;
    this.#timeoutMs = options.callTimeoutMs ?? 30_000;
  }

  /** handle returns the handler of a method for the gRPC server. */
  handle<Q, R>(method: string, work: (request: Q, signal: AbortSignal) => Promise<R>): handleUnaryCall<Q, R> {
    const { grpc, clock, log } = this.#options;
    return (call, respond) => {
      const fail = (code: number, details: string, problem?: string): void => {
        const metadata = new grpc.Metadata();
        if (problem !== undefined) metadata.set(PROBLEM_KEY, problem);
        respond({ code, details, metadata });
      };
      // TLS has verified the issuer. The connection may be older than a change of the trusted CAs, so the name is
      // checked for each call, and connections end after an hour.
      if (!this.#isManager(call.getAuthContext().sslPeerCertificate?.raw)) {
        log.warn('refused a client with another name', { method, peer: call.getPeer() });
        fail(CODES.PERMISSION_DENIED, `the client certificate is not valid for ${MANAGER_NAME}`);
        return;
      }
      const abort = new AbortController();
      const timer = clock.setTimer(this.#timeoutMs, () => abort.abort());
      call.on('cancelled', () => abort.abort());
      this.#run(method, () => work(call.request, abort.signal), abort.signal)
        .then(
          (response) => respond(null, response),
          (error: unknown) => {
            const { code, details, problem } = statusOfError(error);
            if (problem === undefined) log.error('call failed unexpectedly', { method, ...describeUnexpected(error) });
            fail(code, details, problem);
          },
        )
        .finally(() => timer.cancel());
    };
  }

  #isManager(certificate: Buffer | undefined): boolean {
    if (certificate && this.#accepted?.equals(certificate)) return true;
    if (!isCertificateFor(certificate, MANAGER_NAME)) return false;
    this.#accepted = certificate;
    return true;
  }

  async #run<R>(method: string, work: () => Promise<R>, signal: AbortSignal): Promise<R> {
    if (this.#running >= this.#maxCalls) {
      throw new TokenError('Busy', `the agent has ${this.#running} calls in progress; retry later`);
    }
    this.#running++;
    const running = work().finally(() => {
      this.#running--;
    });
    const timedOut = (): TokenError =>
      new TokenError('Timeout', `${method} did not end in time; if it was a write, it may still happen`);
    return await unlessAborted(running, signal, timedOut);
  }
}
