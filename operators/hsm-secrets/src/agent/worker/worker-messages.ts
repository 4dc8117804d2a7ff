import { isProblem } from '../../agent-protocol/call-status.ts';
import { TokenError, type TokenProblem } from '../../token/token-error.ts';
import type { TokenService } from '../../token/token-service.ts';
import type { UnexpectedError } from '../describe-unexpected.ts';

/** WorkerConfig tells a worker which token to use. It names files with PINs and contains none. */
export interface WorkerConfig {
  /** The path of the PKCS#11 module. */
  readonly library: string;
  readonly tokenLabel?: string | undefined;
  /** The serial number of the USB device. */
  readonly serialNumber?: string | undefined;
  readonly slotId?: number | undefined;
  readonly pinFile: string;
  /** A folder, preferably in memory, for the record of tried PINs. */
  readonly stateFolder: string;
  /** Whether a blank token is initialized. */
  readonly autoProvision: boolean;
  /** The file with the PIN of the security officer. */
  readonly soPinFile?: string | undefined;
  /** The name or the folder of the package pkcs11js. Defaults to its name. */
  readonly pkcs11js?: string | undefined;
}

/** WorkerMethod is a method of the token that the worker executes. */
export type WorkerMethod = keyof TokenService;

/** WorkerRequest is a message to the worker. */
export type WorkerRequest =
  | { readonly kind: 'configure'; readonly config: WorkerConfig }
  | { readonly kind: 'call'; readonly id: number; readonly method: WorkerMethod; readonly args: readonly unknown[] };

/** ProvisionedToken names a token that was initialized. */
export interface ProvisionedToken {
  readonly label: string;
  readonly serialNumber: string;
}

/** WorkerResponse is a message of the worker. */
export type WorkerResponse =
  | { readonly kind: 'ready'; readonly coreDumps: 'off' | 'on' }
  | { readonly kind: 'result'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly problem: TokenProblem; readonly message: string }
  | ({ readonly kind: 'failed'; readonly id: number } & UnexpectedError)
  | { readonly kind: 'provisioned'; readonly token: ProvisionedToken }
  /** The worker ends because of an error. */
  | ({ readonly kind: 'crashed' } & UnexpectedError);

/** errorOfResponse rebuilds the error of a call. */
export function errorOfResponse(response: WorkerResponse & { readonly kind: 'refused' | 'failed' }): TokenError {
  if (response.kind === 'refused' && isProblem(response.problem)) {
    return new TokenError(response.problem, response.message);
  }
  return new TokenError('Unavailable', 'the worker process failed; see the log of the agent');
}
