import type { Attribute, Pkcs11Api, Pkcs11TokenInfo } from './pkcs11-api.ts';
import { CKA, CKF, CKR, CKS, CKU } from './pkcs11-api.ts';

/** FakeSlot is a token of the fake module. */
export interface FakeSlot {
  slotId: number;
  label: string;
  serialNumber: string;
  flags: number;
  pin: string;
  soPin: string;
}

/** INITIALIZED are the flags of a token with a user PIN. */
export const INITIALIZED: number = CKF.TOKEN_INITIALIZED | CKF.USER_PIN_INITIALIZED;

/** fakeSlot returns a token that can be used. */
export function fakeSlot(slot: Partial<FakeSlot> = {}): FakeSlot {
  return { slotId: 7, label: 'pico', serialNumber: 'A1', flags: INITIALIZED, pin: '1234', soPin: '5678', ...slot };
}

const NOT_LOGGED_IN = 2;

/**
 * FakePkcs11 is a PKCS#11 module in memory that fails on request, in ways that SoftHSM does not. It records the calls
 * that matter.
 */
export class FakePkcs11 implements Pkcs11Api {
  readonly calls: string[] = [];
  readonly slots: FakeSlot[];
  /** The number of open searches and sessions. */
  openSearches = 0;
  readonly #sessions = new Map<number, { readonly slot: FakeSlot; user: number | undefined }>();
  readonly #objects = new Map<number, readonly Attribute[]>();
  readonly #failures = new Map<string, number[]>();
  #found: Buffer[] = [];
  #last = 0;

  constructor(...slots: readonly FakeSlot[]) {
    this.slots = [...slots];
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  /** fail makes the next calls of a function fail. */
  fail(name: keyof Pkcs11Api, ...codes: readonly number[]): void {
    this.#failures.set(name, [...codes]);
  }

  load(): void {
    this.#enter('load');
  }

  C_Initialize(options?: { readonly flags: number }): void {
    this.#enter('C_Initialize', options ? 'with locks' : 'without locks');
  }

  C_Finalize(): void {
    this.#enter('C_Finalize');
    this.#sessions.clear();
  }

  C_GetSlotList(): readonly Buffer[] {
    this.#enter('C_GetSlotList');
    return this.slots.map(({ slotId }) => handle(slotId));
  }

  C_GetTokenInfo(slot: Buffer): Pkcs11TokenInfo {
    this.#enter('C_GetTokenInfo');
    const { label, serialNumber, flags } = this.#slot(slot);
    const padded = { label: label.padEnd(32), serialNumber: serialNumber.padEnd(16, '\0') };
    return { ...padded, manufacturerID: 'Fake'.padEnd(32), model: 'Fake 1'.padEnd(16), flags };
  }

  C_InitToken(slot: Buffer, soPin: string, label: string): void {
    this.#enter('C_InitToken', JSON.stringify(label), soPin.length);
    const found = this.#slot(slot);
    if ((found.flags & CKF.TOKEN_INITIALIZED) !== 0 && found.soPin !== soPin) fail(CKR.PIN_INCORRECT);
    Object.assign(found, { slotId: found.slotId + 1_000, label: label.trimEnd(), soPin, flags: CKF.TOKEN_INITIALIZED });
  }

  C_InitPIN(session: Buffer, pin: string): void {
    this.#enter('C_InitPIN');
    const { slot, user } = this.#session(session);
    if (user !== CKU.SO) fail(CKR.USER_NOT_LOGGED_IN);
    Object.assign(slot, { pin, flags: INITIALIZED });
  }

  C_SetPIN(session: Buffer, oldPin: string, newPin: string): void {
    this.#enter('C_SetPIN');
    const { slot } = this.#session(session);
    if (slot.pin !== oldPin) fail(CKR.PIN_INCORRECT);
    slot.pin = newPin;
  }

  C_OpenSession(slot: Buffer): Buffer {
    this.#enter('C_OpenSession');
    this.#sessions.set(++this.#last, { slot: this.#slot(slot), user: undefined });
    return handle(this.#last);
  }

  C_CloseSession(session: Buffer): void {
    this.#enter('C_CloseSession');
    if (!this.#sessions.delete(idOf(session))) fail(CKR.SESSION_HANDLE_INVALID);
  }

  C_GetSessionInfo(session: Buffer): { readonly state: number } {
    this.#enter('C_GetSessionInfo');
    return { state: this.#session(session).user === CKU.USER ? CKS.RW_USER : NOT_LOGGED_IN };
  }

  C_Login(session: Buffer, userType: number, pin: string): void {
    this.#enter('C_Login', userType);
    const found = this.#session(session);
    if (pin !== (userType === CKU.SO ? found.slot.soPin : found.slot.pin)) fail(CKR.PIN_INCORRECT);
    found.user = userType;
  }

  C_Logout(session: Buffer): void {
    this.#enter('C_Logout');
    this.#session(session).user = undefined;
  }

  C_CreateObject(session: Buffer, template: readonly Attribute[]): Buffer {
    this.#enter('C_CreateObject');
    this.#session(session);
    this.#objects.set(++this.#last, template);
    return handle(this.#last);
  }

  C_DestroyObject(session: Buffer, object: Buffer): void {
    this.#enter('C_DestroyObject');
    this.#session(session);
    if (!this.#objects.delete(idOf(object))) fail(CKR.OBJECT_HANDLE_INVALID);
  }

  C_FindObjectsInit(session: Buffer, template: readonly Attribute[]): void {
    this.#enter('C_FindObjectsInit');
    this.#session(session);
    if (this.openSearches > 0) fail(CKR.OPERATION_ACTIVE);
    this.openSearches++;
    this.#found = [...this.#objects].flatMap(([id, attributes]) =>
      template.every(({ type, value }) => attributes.some((other) => other.type === type && isSame(other.value, value)))
        ? [handle(id)]
        : [],
    );
  }

  C_FindObjects(_: Buffer, max: number): readonly Buffer[] {
    this.#enter('C_FindObjects', max);
    return this.#found.splice(0, max);
  }

  C_FindObjectsFinal(): void {
    this.#enter('C_FindObjectsFinal');
    this.openSearches--;
  }

  C_GetAttributeValue(
    session: Buffer,
    object: Buffer,
    template: readonly Attribute[],
  ): readonly { readonly type: number; readonly value: Buffer }[] {
    this.#enter('C_GetAttributeValue');
    this.#session(session);
    const attributes = this.#objects.get(idOf(object)) ?? fail(CKR.OBJECT_HANDLE_INVALID);
    return template.map(({ type }) => {
      const value = attributes.find((attribute) => attribute.type === type)?.value;
      return { type, value: Buffer.isBuffer(value) ? value : fail(CKR.ATTRIBUTE_TYPE_INVALID) };
    });
  }

  #enter(name: keyof Pkcs11Api, ...details: readonly unknown[]): void {
    this.calls.push([name, ...details].join(' '));
    const code = this.#failures.get(name)?.shift();
    if (code !== undefined) fail(code);
  }

  #slot(slot: Buffer): FakeSlot {
    return this.slots.find(({ slotId }) => slotId === idOf(slot)) ?? fail(CKR.SLOT_ID_INVALID);
  }

  #session(session: Buffer): { readonly slot: FakeSlot; user: number | undefined } {
    return this.#sessions.get(idOf(session)) ?? fail(CKR.SESSION_HANDLE_INVALID);
  }
}

/** LABEL_ONLY is an object of another program, which has neither an application identifier nor a value. */
export const LABEL_ONLY: readonly Attribute[] = [
  { type: CKA.CLASS, value: 0 },
  { type: CKA.TOKEN, value: true },
  { type: CKA.PRIVATE, value: true },
  { type: CKA.LABEL, value: Buffer.from('old') },
  { type: CKA.APPLICATION, value: Buffer.from('app') },
];

function fail(code: number): never {
  throw Object.assign(new Error(`CKR of the fake with CANARY`), { code });
}

function handle(id: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigUInt64LE(BigInt(id));
  return buffer;
}

function idOf(buffer: Buffer): number {
  return Number(buffer.readBigUInt64LE());
}

function isSame(a: Attribute['value'], b: Attribute['value']): boolean {
  return Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : a === b;
}
