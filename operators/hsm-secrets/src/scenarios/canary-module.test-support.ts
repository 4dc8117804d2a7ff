import { readFileSync, writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import {
  type Attribute,
  CKA,
  CKF,
  CKR,
  CKS,
  type Pkcs11Api,
  type Pkcs11Package,
  type Pkcs11TokenInfo,
} from '../pkcs11/pkcs11-api.ts';
import { SoftwareToken, type SoftwareTokenSnapshot } from '../token/software-token.ts';
import type { DataObject, Token } from '../token/token.ts';
import { TokenError, type TokenProblem } from '../token/token-error.ts';

/** Behaviour is how the module fails: with an error, or by ending its process. */
export type Behaviour = 'works' | 'throws' | 'throws later' | 'rejects later' | 'aborts';

/** behaviourFile returns the file that tells the module with this token how to fail. */
export function behaviourFile(library: string): string {
  return `${library}.behaviour`;
}

const CODES: Partial<Record<TokenProblem, number>> = {
  PINIncorrect: CKR.PIN_INCORRECT,
  PINLocked: CKR.PIN_LOCKED,
  Full: CKR.DEVICE_MEMORY,
  NotFound: CKR.OBJECT_HANDLE_INVALID,
  Invalid: CKR.PIN_INVALID,
};

const MAX_KNOWN = 10;
const MAX_KNOWN_LENGTH = 200;

/**
 * LeakyModule is a PKCS#11 module with a software token in a file, which takes the place of a library. It reveals what it
 * knows wherever a module can: in its output, in its errors, and when it ends its process.
 */
class LeakyModule implements Pkcs11Api {
  #library = '';
  #device: SoftwareToken | undefined;
  #session: Token | undefined;
  readonly #objects = new Map<number, DataObject>();
  #found: Buffer[] = [];
  /** What it knows: the last PINs and values. */
  #known: readonly string[] = [];

  load(path: string): void {
    this.#library = path;
    this.#device = this.#restore();
  }

  C_Initialize(): void {}

  C_Finalize(): void {
    this.#session = undefined;
  }

  C_GetSlotList(): readonly Buffer[] {
    return [handle(0)];
  }

  C_GetTokenInfo(): Pkcs11TokenInfo {
    const { label, serialNumber, manufacturer, model, ...flags } = this.#opened().info();
    const bits: readonly (readonly [boolean, number])[] = [
      [true, CKF.TOKEN_INITIALIZED],
      [flags.isUserPinInitialized, CKF.USER_PIN_INITIALIZED],
      [flags.isPinCountLow, CKF.USER_PIN_COUNT_LOW],
      [flags.isPinFinalTry, CKF.USER_PIN_FINAL_TRY],
      [flags.isPinLocked, CKF.USER_PIN_LOCKED],
    ];
    const set = bits.reduce((sum, [isSet, bit]) => (isSet ? sum | bit : sum), 0);
    return { label, serialNumber, manufacturerID: manufacturer, model: model.slice(0, 16), flags: set };
  }

  C_InitToken(): void {
    this.#fail(CKR.FUNCTION_FAILED);
  }

  C_InitPIN(): void {
    this.#fail(CKR.FUNCTION_FAILED);
  }

  C_SetPIN(_: Buffer, oldPin: string, newPin: string): void {
    this.#learn(oldPin, newPin);
    this.#change((session) => session.setPin(Buffer.from(oldPin), Buffer.from(newPin)));
  }

  C_OpenSession(): Buffer {
    this.#session = this.#opened().open();
    return handle(1);
  }

  C_CloseSession(): void {
    this.#session = undefined;
  }

  C_GetSessionInfo(): { readonly state: number } {
    return { state: this.#do((session) => session.isLoggedIn()) ? CKS.RW_USER : 2 };
  }

  C_Login(_: Buffer, _userType: number, pin: string): void {
    this.#learn(pin);
    this.#change((session) => session.login(Buffer.from(pin)));
  }

  C_Logout(): void {}

  C_CreateObject(_: Buffer, template: readonly Attribute[]): Buffer {
    const text = (type: number): string => String(attribute(template, type));
    const value = attribute(template, CKA.VALUE);
    const objectId = attribute(template, CKA.OBJECT_ID);
    this.#learn(value);
    this.#change((session) =>
      session.create({ label: text(CKA.LABEL), application: text(CKA.APPLICATION), objectId, value }),
    );
    return handle(0);
  }

  C_DestroyObject(_: Buffer, object: Buffer): void {
    this.#change((session) => session.destroy(this.#object(object).handle));
  }

  C_FindObjectsInit(_: Buffer, template: readonly Attribute[]): void {
    const objects = this.#do((session) => session.find(String(attribute(template, CKA.APPLICATION))));
    this.#misbehave();
    this.#found = objects.map((object) => {
      const id = this.#objects.size + 1;
      this.#objects.set(id, object);
      return handle(id);
    });
  }

  C_FindObjects(_: Buffer, max: number): readonly Buffer[] {
    return this.#found.splice(0, max);
  }

  C_FindObjectsFinal(): void {}

  C_GetAttributeValue(
    _: Buffer,
    object: Buffer,
    template: readonly Attribute[],
  ): readonly { readonly type: number; readonly value: Buffer }[] {
    const { handle: found, label, application, objectId } = this.#object(object);
    const values: Readonly<Record<number, () => Buffer>> = {
      [CKA.LABEL]: () => Buffer.from(label),
      [CKA.APPLICATION]: () => Buffer.from(application),
      [CKA.OBJECT_ID]: () => objectId,
      [CKA.VALUE]: () => this.#learn(this.#do((session) => session.read(found))),
    };
    return template.map(({ type }) => ({ type, value: values[type]?.() ?? this.#fail(CKR.ATTRIBUTE_TYPE_INVALID) }));
  }

  /** #learn returns the last value. */
  #learn<T extends string | Buffer>(...values: readonly [...(string | Buffer)[], T]): T {
    const texts = values.map((value) => value.toString().slice(0, MAX_KNOWN_LENGTH));
    this.#known = [...this.#known, ...texts].slice(-MAX_KNOWN);
    return values.at(-1) as T;
  }

  #secrets(): string {
    return inspect(this.#known);
  }

  /** #change keeps what it does in the file. */
  #change(work: (session: Token) => void): void {
    try {
      this.#do(work);
    } finally {
      writeFileSync(this.#library, JSON.stringify(this.#device?.snapshot()));
    }
  }

  #do<T>(work: (session: Token) => T): T {
    process.stdout.write(`${this.#secrets()}\n`);
    process.stderr.write(`${this.#secrets()}\n`);
    try {
      return this.#session === undefined ? this.#fail(CKR.SESSION_HANDLE_INVALID) : work(this.#session);
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      return this.#fail(CODES[error.problem] ?? CKR.DEVICE_ERROR);
    }
  }

  #fail(code: number): never {
    throw Object.assign(this.#error(), { code });
  }

  #error(): Error {
    const secrets = this.#secrets();
    return Object.assign(new TypeError(`cannot use ${secrets}`, { cause: new Error(secrets) }), { secrets });
  }

  #misbehave(): void {
    const file = behaviourFile(this.#library);
    const behaviour = readFileSync(file, 'utf8') as Behaviour;
    // Once: a call that failed may be repeated.
    writeFileSync(file, 'works' satisfies Behaviour);
    if (behaviour === 'throws') throw this.#error();
    if (behaviour === 'aborts') process.abort();
    if (behaviour === 'throws later')
      setImmediate(() => {
        throw this.#error();
      });
    if (behaviour === 'rejects later') void Promise.reject(this.#error());
  }

  #opened(): SoftwareToken {
    return this.#device ?? this.#fail(CKR.CRYPTOKI_NOT_INITIALIZED);
  }

  #restore(): SoftwareToken {
    return SoftwareToken.restore(JSON.parse(readFileSync(this.#library, 'utf8')) as SoftwareTokenSnapshot);
  }

  #object(object: Buffer): DataObject {
    return this.#objects.get(Number(object.readBigUInt64LE())) ?? this.#fail(CKR.OBJECT_HANDLE_INVALID);
  }
}

/** PKCS11 is what the package pkcs11js exports: this module stands in for the package and the library. */
export const PKCS11: Pkcs11Package['PKCS11'] = LeakyModule;

function attribute(template: readonly Attribute[], wanted: number): Buffer {
  const value = template.find(({ type }) => type === wanted)?.value;
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function handle(id: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(id));
  return buffer;
}
