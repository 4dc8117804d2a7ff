import { createHmac, randomBytes } from 'node:crypto';
import type { Token, TokenInfo } from '../token.ts';
import { TokenError, type TokenProblem } from '../token-error.ts';
import { decideLogin, type LoginInput, type PinHistory } from './decide-login.ts';
import type { PinAttempt, PinAttemptStore, PinAttempts } from './pin-attempts.ts';
import { hashPin } from './pin-hash.ts';
import type { PinSource } from './pin-source.ts';

const MAX_PIN_BYTES = 255;
const LOST_PIN = 'was logged in with a PIN that is no longer in the PIN Secret; restore that PIN, or restart the agent';
const MIN_NONCE_BYTES = 16;
const MAX_NONCE_BYTES = 1_024;

interface Pins {
  readonly current: Buffer | undefined;
  readonly next: Buffer | undefined;
}

/** PinGuard is the only place that sends a PIN to a token. It follows `decideLogin` and clears PINs after use. */
export class PinGuard {
  readonly #source: PinSource;
  readonly #store: PinAttemptStore;
  /** Only this process knows the salt of the accepted PIN's hash. */
  readonly #salt = newSalt();
  #acceptedHash: string | undefined;

  constructor(source: PinSource, store: PinAttemptStore) {
    this.#source = source;
    this.#store = store;
  }

  /** login logs in with the current PIN, or with the next one if the current is refused, if that is safe. */
  login(token: Token): void {
    if (!token.isLoggedIn()) this.#withPins((pins) => this.#login(token, pins, false));
  }

  /** retry tries the current PIN, although an earlier attempt or the flags of the token advise against it. */
  retry(token: Token): void {
    if (!token.isLoggedIn()) this.#withPins((pins) => this.#login(token, pins, true));
  }

  /**
   * changePin sets a new PIN. The old one must be the one that this process logged in with: a wrong one would count as
   * a failed login. Repeating a completed change does nothing.
   */
  changePin(token: Token, newPin: Buffer): void {
    if (newPin.length === 0 || newPin.length > MAX_PIN_BYTES)
      throw new TokenError('Invalid', `a PIN must have 1 to ${MAX_PIN_BYTES} bytes`);
    if (hashPin(this.#salt, newPin) === this.#acceptedHash) return;
    this.#withPins((pins) => {
      const oldPin = [pins.current, pins.next].find((pin) => pin && hashPin(this.#salt, pin) === this.#acceptedHash);
      if (oldPin === undefined) throw problem('PINUncertain', token.info(), LOST_PIN);
      this.#acceptedHash = undefined;
      try {
        token.setPin(oldPin, newPin);
      } catch (error) {
        if (isRefusal(error)) this.#recordRefusal(oldPin);
        throw error;
      }
      this.#acceptedHash = hashPin(this.#salt, newPin);
      // The Secret may contain the old PIN for some time. A restart need not try it.
      this.#recordRefusal(oldPin);
    });
  }

  /** provePin returns an HMAC (SHA-256) of a nonce with the current PIN as key. */
  provePin(nonce: Buffer): Buffer {
    if (nonce.length < MIN_NONCE_BYTES || nonce.length > MAX_NONCE_BYTES)
      throw new TokenError('Invalid', `a nonce must have ${MIN_NONCE_BYTES} to ${MAX_NONCE_BYTES} bytes`);
    return this.#withPins(({ current }) => {
      if (current === undefined) throw problem('PINMissing');
      return createHmac('sha256', current).update(nonce).digest();
    });
  }

  #withPins<T>(use: (pins: Pins) => T): T {
    const pins: { current?: Buffer | undefined; next?: Buffer | undefined } = {};
    try {
      try {
        pins.current = this.#source.current();
        pins.next = this.#source.next();
      } catch (cause) {
        throw new TokenError('PINMissing', `cannot read the PIN Secret: ${codeOf(cause)}`, { cause });
      }
      return use({ current: pins.current, next: pins.next });
    } finally {
      pins.current?.fill(0);
      pins.next?.fill(0);
    }
  }

  #login(token: Token, pins: Pins, isForced: boolean): void {
    let record = this.#readRecord(pins);
    const before = token.info();
    const decide = (flags: TokenInfo, isOwnLowCount: boolean) =>
      decideLogin({ flags, isOwnLowCount, isForced, ...historyOf(record, pins) });
    const decision = decide(before, false);
    if ('problem' in decision) throw problem(decision.problem, before);
    record = this.#try(token, pins, decision.pin, record);
    if (record.isAccepted) return;
    // The token may report a low count now, because of this attempt. If it already did, the next PIN is not tried.
    const after = token.info();
    const second = isForced ? undefined : decide(after, !before.isPinCountLow);
    if (second === undefined || 'problem' in second || second.pin === decision.pin)
      throw problem(after.isPinLocked ? 'PINLocked' : 'PINIncorrect', after);
    if (!this.#try(token, pins, second.pin, record).isAccepted) throw problem('PINIncorrect', after);
  }

  /** #try records the attempt before it is made: if the process ends meanwhile, the next one does not repeat it. */
  #try(token: Token, pins: Pins, name: 'current' | 'next', record: AttemptRecord): AttemptRecord {
    const pin = pins[name];
    if (pin === undefined) throw problem('PINMissing');
    const hash = hashPin(record.salt, pin);
    const others = presentAttempts(record, pins).filter((attempt) => attempt.hash !== hash);
    this.#write({ salt: record.salt, attempts: [...others, { hash, outcome: 'unknown' }] });
    try {
      token.login(pin);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      return this.#write({ salt: record.salt, attempts: [...others, { hash, outcome: 'refused' }] });
    }
    this.#acceptedHash = hashPin(this.#salt, pin);
    return { ...this.#write({ salt: record.salt, attempts: others }), isAccepted: true };
  }

  #recordRefusal(pin: Buffer): void {
    const salt = newSalt();
    this.#write({ salt, attempts: [{ hash: hashPin(salt, pin), outcome: 'refused' }] });
  }

  /** #readRecord returns the record. If it is damaged, every PIN may have been tried. */
  #readRecord(pins: Pins): AttemptRecord {
    const record = orUnavailable('read', () => this.#store.read());
    const salt = newSalt();
    if (record !== 'unreadable') return { ...(record ?? { salt, attempts: [] }), isAccepted: false };
    const present = [pins.current, pins.next].filter((pin) => pin !== undefined);
    const attempts = present.map((pin): PinAttempt => ({ hash: hashPin(salt, pin), outcome: 'unknown' }));
    return { salt, attempts, isAccepted: false };
  }

  #write(attempts: PinAttempts): AttemptRecord {
    orUnavailable('write', () => this.#store.write(attempts));
    return { ...attempts, isAccepted: false };
  }
}

interface AttemptRecord extends PinAttempts {
  readonly isAccepted: boolean;
}

function historyOf(record: PinAttempts, pins: Pins): Pick<LoginInput, 'current' | 'next' | 'hasOtherAttempts'> {
  const history = (pin: Buffer | undefined): PinHistory => {
    if (pin === undefined) return 'missing';
    const hash = hashPin(record.salt, pin);
    return record.attempts.find((attempt) => attempt.hash === hash)?.outcome ?? 'untried';
  };
  const hash = pins.current && hashPin(record.salt, pins.current);
  const hasOtherAttempts = record.attempts.some((attempt) => attempt.hash !== hash);
  return { current: history(pins.current), next: history(pins.next), hasOtherAttempts };
}

/** presentAttempts drops earlier values: a PIN that returns to the Secret later is a new version of it. */
function presentAttempts(record: PinAttempts, pins: Pins): readonly PinAttempt[] {
  const present = [pins.current, pins.next].map((pin) => pin && hashPin(record.salt, pin));
  return record.attempts.filter(({ hash }) => present.includes(hash));
}

function isRefusal(error: unknown): boolean {
  return error instanceof TokenError && (error.problem === 'PINIncorrect' || error.problem === 'PINLocked');
}

function orUnavailable<T>(verb: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new TokenError('Unavailable', `cannot ${verb} the record of tried PINs: ${codeOf(cause)}`, { cause });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function newSalt(): string {
  return randomBytes(16).toString('hex');
}

const MESSAGES: Partial<Record<TokenProblem, string>> = {
  TokenNotFound: 'has no user PIN; initialize it, or set autoProvision',
  PINLocked: 'is locked after too many wrong PINs; unlock it with its SO PIN',
  PINFinalTry: 'will be locked by one more wrong PIN; check the PIN Secret, then run retry-pin',
  PINUncertain: 'may have received a wrong PIN since the last login; check the PIN Secret, then run retry-pin',
  PINIncorrect: 'refused the PIN; correct the PIN Secret, or run retry-pin after setting that PIN on the token',
};

function problem(kind: TokenProblem, info?: TokenInfo, message = MESSAGES[kind]): TokenError {
  if (info === undefined || message === undefined)
    return new TokenError(kind, 'the PIN Secret contains no PIN for the token; add it');
  return new TokenError(kind, `the token ${JSON.stringify(info.label)} (${info.serialNumber}) ${message}`);
}
