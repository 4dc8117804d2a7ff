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

/** TokenProcess is a process that uses a device. */
export interface TokenProcess {
  /** open returns a session that is not logged in, and ends the earlier one. */
  open(): Token;
}

/** Device is a device with a token that outlives the processes that use it. */
export interface Device extends Disposable {
  /** start replaces the process that uses the device; its sessions have ended without being closed. */
  start(): TokenProcess;
  /** info reads the description and flags of the token, and leaves sessions as they are. */
  info(): TokenInfo;
  /** unplug ends all sessions, and makes the device available again. */
  unplug(): void;
  /** enterWrongPin tries a wrong PIN, as another program would. It may end sessions. */
  enterWrongPin(): void;
}

/** TokenKind creates devices of one kind. */
export interface TokenKind {
  readonly name: string;
  /** supported returns what devices of this kind can do of what is requested. */
  supported(options: DeviceOptions): DeviceOptions;
  create(options: DeviceOptions): Device;
}

/** softwareTokens are devices in memory. */
export const softwareTokens: TokenKind = {
  name: 'software',
  supported: (options) => options,
  create: ({ pin, reportsPinTries, capacityBytes }) => {
    const device = new SoftwareToken({
      serialNumber: 'PROOF',
      pin: Buffer.from(pin),
      reportsPinTries,
      ...(capacityBytes === undefined ? {} : { capacityBytes }),
    });
    return {
      start: () => ({ open: () => device.open() }),
      info: () => device.info(),
      unplug: () => device.disconnect(),
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
