import { randomBytes } from 'node:crypto';
import { hashPin } from './pin/pin-hash.ts';
import type { DataObject, DataObjectHandle, NewDataObject, Token, TokenInfo } from './token.ts';
import { TokenError } from './token-error.ts';

/** SoftwareTokenOptions configures a software token. */
export interface SoftwareTokenOptions {
  /** Defaults to "software". */
  readonly label?: string;
  readonly serialNumber: string;
  /** The PIN of the user. Undefined for a blank token. */
  readonly pin?: Buffer | undefined;
  /** How many wrong PINs in a row lock the token. Defaults to 3. */
  readonly maxPinTries?: number;
  /** Whether the token reports that wrong PINs were entered, until it is locked. Defaults to true. */
  readonly reportsPinTries?: boolean;
  /** How many bytes fit, labels and some overhead per object included. Defaults to 4 MiB. */
  readonly capacityBytes?: number;
}

/** SoftwareTokenSnapshot is the state of a software token as JSON. It contains the values in clear text. */
export interface SoftwareTokenSnapshot {
  readonly label: string;
  readonly serialNumber: string;
  readonly maxPinTries: number;
  readonly reportsPinTries: boolean;
  readonly capacityBytes: number;
  readonly wrongPins: number;
  readonly pin: { readonly salt: string; readonly hash: string } | null;
  readonly objects: readonly {
    readonly label: string;
    readonly application: string;
    /** In base64, like the value. */
    readonly objectId: string;
    readonly value: string;
  }[];
}

/** What a device needs for the attributes of an object. */
const OBJECT_OVERHEAD_BYTES = 64;
const DEFAULT_CAPACITY_BYTES = 4 * 1_048_576;

/**
 * SoftwareToken is a device in memory, for simulations and tests. Its sessions behave like those of PKCS#11: objects
 * are private, wrong PINs are counted and lock it, and its memory is limited.
 */
export class SoftwareToken {
  readonly #options: Omit<SoftwareTokenSnapshot, 'wrongPins' | 'pin' | 'objects'>;
  readonly #objects = new Set<NewDataObject>();
  #pin: SoftwareTokenSnapshot['pin'] = null;
  #wrongPins = 0;
  #usedBytes = 0;
  /** Sessions of an earlier connection have ended. */
  #connection = 0;

  constructor(options: SoftwareTokenOptions) {
    this.#options = {
      label: options.label ?? 'software',
      serialNumber: options.serialNumber,
      maxPinTries: options.maxPinTries ?? 3,
      reportsPinTries: options.reportsPinTries ?? true,
      capacityBytes: options.capacityBytes ?? DEFAULT_CAPACITY_BYTES,
    };
    if (options.pin !== undefined) this.initialize(options.pin);
  }

  /** restore returns a token with the state of a snapshot. */
  static restore(snapshot: SoftwareTokenSnapshot): SoftwareToken {
    const { pin, wrongPins, objects, ...options } = snapshot;
    const token = new SoftwareToken(options);
    token.#pin = pin;
    token.#wrongPins = wrongPins;
    for (const object of objects)
      token.#add({
        ...object,
        objectId: Buffer.from(object.objectId, 'base64'),
        value: Buffer.from(object.value, 'base64'),
      });
    return token;
  }

  /** snapshot returns the whole state, except for sessions. */
  snapshot(): SoftwareTokenSnapshot {
    const objects = [...this.#objects].map((object) => ({
      ...object,
      objectId: object.objectId.toString('base64'),
      value: object.value.toString('base64'),
    }));
    return { ...this.#options, wrongPins: this.#wrongPins, pin: this.#pin, objects };
  }

  /** initialize sets the PIN of a blank token. */
  initialize(pin: Buffer): void {
    if (this.#pin !== null) throw new TokenError('Invalid', 'the token already has a user PIN');
    this.#setPin(pin);
  }

  /** disconnect ends all sessions, like unplugging the device. */
  disconnect(): void {
    this.#connection++;
  }

  /** open starts a session that is not logged in. */
  open(): Token {
    const connection = this.#connection;
    const handles = new WeakMap<DataObjectHandle, NewDataObject>();
    let isLoggedIn = false;
    const connected = (): void => {
      if (connection === this.#connection) return;
      throw new TokenError('Unavailable', 'the software token was disconnected; open a new session');
    };
    const objectOf = (handle: DataObjectHandle): NewDataObject => {
      connected();
      const object = handles.get(handle);
      if (isLoggedIn && object !== undefined && this.#objects.has(object)) return object;
      throw new TokenError('NotFound', 'the object does not exist on the token');
    };
    return {
      info: () => {
        connected();
        return this.info();
      },
      isLoggedIn: () => {
        connected();
        return isLoggedIn;
      },
      login: (pin) => {
        connected();
        this.#verify(pin);
        isLoggedIn = true;
      },
      setPin: (oldPin, newPin) => {
        connected();
        if (!isLoggedIn) throw new TokenError('Unavailable', 'cannot set the PIN: the session is not logged in');
        this.#verify(oldPin);
        this.#setPin(newPin);
      },
      find: (application) => {
        connected();
        if (!isLoggedIn) return [];
        return [...this.#objects]
          .filter((object) => object.application === application)
          .map((object) => listed(object, handles));
      },
      read: (handle) => Buffer.from(objectOf(handle).value),
      create: (object) => {
        connected();
        if (!isLoggedIn) throw new TokenError('Unavailable', 'cannot create an object: the session is not logged in');
        this.#add(object);
      },
      destroy: (handle) => this.#remove(objectOf(handle)),
    };
  }

  /** info describes the token. */
  info(): TokenInfo {
    const { label, serialNumber, maxPinTries, reportsPinTries } = this.#options;
    const isPinLocked = this.#wrongPins >= maxPinTries;
    return {
      label,
      serialNumber,
      manufacturer: 'Bowline',
      model: 'software token (simulated)',
      isUserPinInitialized: this.#pin !== null,
      isPinCountLow: reportsPinTries && this.#wrongPins > 0,
      isPinFinalTry: reportsPinTries && this.#wrongPins === maxPinTries - 1,
      isPinLocked,
    };
  }

  #verify(pin: Buffer): void {
    if (this.#pin === null) throw new TokenError('Invalid', 'the token has no user PIN; initialize it');
    if (this.info().isPinLocked) throw new TokenError('PINLocked', 'the token is locked');
    if (hashPin(this.#pin.salt, pin) !== this.#pin.hash) {
      this.#wrongPins++;
      throw new TokenError('PINIncorrect', 'the token refused the PIN');
    }
    this.#wrongPins = 0;
  }

  #setPin(pin: Buffer): void {
    if (pin.length === 0) throw new TokenError('Invalid', 'a PIN must not be empty');
    const salt = randomBytes(16).toString('hex');
    this.#pin = { salt, hash: hashPin(salt, pin) };
  }

  #add(object: NewDataObject): void {
    const bytes = this.#usedBytes + sizeOf(object);
    if (bytes > this.#options.capacityBytes) throw new TokenError('Full', 'the memory of the software token is full');
    this.#usedBytes = bytes;
    this.#objects.add({ ...object, value: Buffer.from(object.value) });
  }

  #remove(object: NewDataObject): void {
    this.#objects.delete(object);
    this.#usedBytes -= sizeOf(object);
  }
}

function sizeOf({ label, value }: NewDataObject): number {
  return Buffer.byteLength(label) + value.length + OBJECT_OVERHEAD_BYTES;
}

function listed(object: NewDataObject, handles: WeakMap<DataObjectHandle, NewDataObject>): DataObject {
  const handle: DataObjectHandle = {};
  handles.set(handle, object);
  return { handle, label: object.label, application: object.application, objectId: object.objectId };
}
