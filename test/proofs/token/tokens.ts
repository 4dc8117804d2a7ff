import { SoftwareToken } from '../../../operators/hsm-secrets/src/token/software-token.ts';
import type { Token, TokenInfo } from '../../../operators/hsm-secrets/src/token/token.ts';
import { TokenError } from '../../../operators/hsm-secrets/src/token/token-error.ts';

/** DeviceOptions configures a device. */
export interface DeviceOptions {
  readonly pin: string;
  /** Whether the device should report wrong PINs; not every kind can do otherwise. */
  readonly reportsPinTries: boolean;
  /** How much should fit; undefined for plenty. Not every kind can be limited. */
  readonly capacityBytes: number | undefined;
}

/** Device is a device with a token that outlives the processes that use it. */
export interface Device extends Disposable {
  /** open returns the session of a new process: not logged in, even if an earlier session was. */
  open(): Token;
  /** info reads the description and flags of the token, and leaves sessions as they are. */
  info(): TokenInfo;
  /** enterWrongPin tries a wrong PIN, as another program would. It may end sessions. */
  enterWrongPin(): void;
}

/** TokenKind creates devices of one kind. */
export interface TokenKind {
  readonly name: string;
  create(options: DeviceOptions): Device;
}

/** tokenKinds returns the kinds that are available on this machine. */
export function tokenKinds(): readonly TokenKind[] {
  return [softwareTokens];
}

/** softwareTokens are devices in memory. */
export const softwareTokens: TokenKind = {
  name: 'software',
  create: ({ pin, reportsPinTries, capacityBytes }) => {
    const device = new SoftwareToken({
      serialNumber: 'PROOF',
      pin: Buffer.from(pin),
      reportsPinTries,
      ...(capacityBytes === undefined ? {} : { capacityBytes }),
    });
    return {
      open: () => device.open(),
      info: () => device.info(),
      enterWrongPin: () => {
        try {
          device.open().login(Buffer.from('another program'));
        } catch (error) {
          if (!(error instanceof TokenError)) throw error;
        }
      },
      [Symbol.dispose]: () => undefined,
    };
  },
};
