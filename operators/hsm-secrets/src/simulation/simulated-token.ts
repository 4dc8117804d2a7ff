import type { Clock } from '@bowline/machinery';
import { LocalTokenService } from '../token/local-token-service.ts';
import type { PinAttemptStore, PinAttempts } from '../token/pin/pin-attempts.ts';
import type { PinSource } from '../token/pin/pin-source.ts';
import { SoftwareToken, type SoftwareTokenSnapshot } from '../token/software-token.ts';
import type { SecretData, TokenService } from '../token/token-service.ts';

/** SimulatedTokenOptions configures the token of a simulated device. */
export interface SimulatedTokenOptions {
  readonly serialNumber: string;
  /** The stored state; undefined for a new token. */
  readonly stored: SoftwareTokenSnapshot | undefined;
  /** What a new token has, by path. */
  readonly content: ReadonlyMap<string, SecretData>;
  readonly pin: PinSource;
  /** save stores the state of the token after a change. */
  readonly save: (snapshot: SoftwareTokenSnapshot) => Promise<void>;
  readonly clock: Clock;
}

const FIRST = { version: 1, timestamp: '2025-08-19T10:00:00Z' };

/** simulatedToken returns the token of a simulated device. A new one has the PIN that it is first used with. */
export async function simulatedToken(options: SimulatedTokenOptions): Promise<TokenService> {
  const { serialNumber, stored, content, pin, save, clock } = options;
  const token = stored
    ? SoftwareToken.restore(stored)
    : new SoftwareToken({
        label: 'software token (simulated)',
        serialNumber,
        pin: pin.current(),
        // All of it has to fit into one Secret, encoded twice.
        capacityBytes: 256 * 1024,
      });
  const attempts = memoryAttempts();
  const local = new LocalTokenService({ open: () => token.open(), pin, attempts, clock, isSimulated: true });
  // The same version on all devices: they are equal from the start.
  if (!stored) for (const [path, data] of content) await local.write(path, data, { source: 'simulation' }, FIRST);
  const saving = async <T>(result: Promise<T>): Promise<T> => {
    const value = await result;
    await save(token.snapshot());
    return value;
  };
  return {
    status: (...args) => local.status(...args),
    read: (...args) => local.read(...args),
    metadata: (...args) => local.metadata(...args),
    list: (...args) => local.list(...args),
    retryPin: (...args) => local.retryPin(...args),
    provePin: (...args) => local.provePin(...args),
    write: (...args) => saving(local.write(...args)),
    remove: (...args) => saving(local.remove(...args)),
    purge: (...args) => saving(local.purge(...args)),
    changePin: (...args) => saving(local.changePin(...args)),
  };
}

/** The record of tried PINs of a simulated agent lasts as long as its process. */
function memoryAttempts(): PinAttemptStore {
  let kept: PinAttempts | undefined;
  return {
    read: () => kept,
    write: (attempts) => {
      kept = attempts;
    },
  };
}
