import { SoftwareToken } from '../../../operators/hsm-secrets/src/token/software-token.ts';
import type { Token } from '../../../operators/hsm-secrets/src/token/token.ts';

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
    return { open: () => device.open(), [Symbol.dispose]: () => undefined };
  },
};
