import { describe, expect, it } from 'vitest';
import type { Token } from '../token/token.ts';
import { FakePkcs11, fakeSlot, LABEL_ONLY } from './fake-pkcs11.test-support.ts';
import { loadPkcs11 } from './load-pkcs11.ts';
import { CKF, CKR, type Pkcs11Api } from './pkcs11-api.ts';
import { Pkcs11Module, type Pkcs11ModuleOptions } from './pkcs11-module.ts';

const PIN = Buffer.from('1234');

function moduleOf(api: FakePkcs11, options: Partial<Pkcs11ModuleOptions> = {}): Pkcs11Module {
  return new Pkcs11Module({ load: () => api, choice: {}, ...options });
}

function loggedIn(api: FakePkcs11): Token {
  const token = moduleOf(api).open();
  token.login(PIN);
  return token;
}

const object = (label: string) => ({
  label,
  application: 'app',
  objectId: Buffer.from('id'),
  value: Buffer.from('value'),
});

describe('a session with a token', () => {
  it('reads the description without padding', () => {
    const flags = CKF.USER_PIN_INITIALIZED | CKF.USER_PIN_COUNT_LOW | CKF.USER_PIN_LOCKED;
    expect(
      moduleOf(new FakePkcs11(fakeSlot({ flags })))
        .open()
        .info(),
    ).toEqual({
      label: 'pico',
      serialNumber: 'A1',
      manufacturer: 'Fake',
      model: 'Fake 1',
      isUserPinInitialized: true,
      isPinCountLow: true,
      isPinFinalTry: false,
      isPinLocked: true,
    });
  });

  it('creates, finds, reads and destroys objects, and always ends a search', () => {
    const api = new FakePkcs11(fakeSlot());
    const token = loggedIn(api);
    for (let index = 0; index < 130; index++) token.create(object(`label-${index}`));
    const found = token.find('app');
    expect(found.map(({ label }) => label)).toEqual(Array.from({ length: 130 }, (_, index) => `label-${index}`));
    expect(token.find('other')).toEqual([]);
    expect(api.calls.filter((call) => call === 'C_FindObjects 64')).toHaveLength(5);
    const [first] = found;
    if (!first) throw new Error('nothing found');
    expect(token.read(first.handle)).toEqual(Buffer.from('value'));
    token.destroy(first.handle);
    expect(token.find('app')).toHaveLength(129);
    api.fail('C_FindObjects', CKR.DEVICE_ERROR);
    expect(() => token.find('app')).toThrow('cannot list the objects of the token: CKR_DEVICE_ERROR');
    expect(api.openSearches).toBe(0);
  });

  it('ends a search that an earlier failure left open', () => {
    const api = new FakePkcs11(fakeSlot());
    const token = loggedIn(api);
    api.openSearches = 1;
    expect(token.find('app')).toEqual([]);
  });

  it('does not need all attributes of an object', () => {
    const api = new FakePkcs11(fakeSlot());
    const token = loggedIn(api);
    api.C_CreateObject(api.C_OpenSession(api.C_GetSlotList()[0] as Buffer), LABEL_ONLY);
    const [found] = token.find('app');
    expect(found).toMatchObject({ label: 'old', objectId: Buffer.alloc(0) });
  });

  it('does not take the objects of a removed token, or those after a logout, for none', () => {
    const api = new FakePkcs11(fakeSlot());
    const token = loggedIn(api);
    api.fail('C_GetTokenInfo', CKR.TOKEN_NOT_PRESENT);
    expect(() => token.find('app')).toThrow('CKR_TOKEN_NOT_PRESENT');
    expect(() => moduleOf(api).open().find('app')).toThrow('CKR_USER_NOT_LOGGED_IN');
  });

  it('accepts that the user is already logged in', () => {
    const api = new FakePkcs11(fakeSlot());
    const token = moduleOf(api).open();
    api.fail('C_Login', CKR.USER_ALREADY_LOGGED_IN);
    token.login(PIN);
    expect(token.isLoggedIn()).toBe(false);
    token.login(PIN);
    expect(token.isLoggedIn()).toBe(true);
  });

  it.each([
    [CKR.PIN_INCORRECT, 'PINIncorrect'],
    [CKR.PIN_LEN_RANGE, 'PINIncorrect'],
    [CKR.PIN_INVALID, 'PINIncorrect'],
    [CKR.PIN_LOCKED, 'PINLocked'],
    [CKR.DEVICE_REMOVED, 'Unavailable'],
  ])('reports the result 0x%x of a login as %s', (code, problem) => {
    const api = new FakePkcs11(fakeSlot());
    const token = moduleOf(api).open();
    api.fail('C_Login', code);
    expect(() => token.login(PIN)).toThrow(expect.objectContaining({ problem }));
  });

  it.each([
    ['C_CreateObject', CKR.DEVICE_MEMORY, 'Full'],
    ['C_CreateObject', CKR.ATTRIBUTE_VALUE_INVALID, 'Invalid'],
    ['C_CreateObject', CKR.TOKEN_WRITE_PROTECTED, 'Unavailable'],
    ['C_CreateObject', 0x80000001, 'Unavailable'],
    ['C_SetPIN', CKR.PIN_LEN_RANGE, 'Invalid'],
    ['C_SetPIN', CKR.PIN_INCORRECT, 'PINIncorrect'],
  ] as const)('reports the result of %s, 0x%x, as %s, and quotes nothing', (name, code, problem) => {
    const api = new FakePkcs11(fakeSlot());
    const token = loggedIn(api);
    api.fail(name, code);
    const call = (): void =>
      name === 'C_SetPIN' ? token.setPin(PIN, Buffer.from('CANARY')) : token.create(object('label'));
    expect(call).toThrow(expect.objectContaining({ problem }));
    api.fail(name, code);
    expect(call).toThrow(/^cannot [a-z A-Z]+: (CKR_[A-Z_]+|the PKCS#11 module returned 0x80000001)$/);
  });

  it.each([CKR.TOKEN_NOT_PRESENT, CKR.DEVICE_REMOVED, CKR.DEVICE_ERROR, CKR.SESSION_HANDLE_INVALID])(
    'ends after the result 0x%x, and another one can be opened',
    (code) => {
      const api = new FakePkcs11(fakeSlot());
      const module = moduleOf(api);
      const token = module.open();
      token.login(PIN);
      api.fail('C_CreateObject', code);
      expect(() => token.create(object('label'))).toThrow(expect.objectContaining({ problem: 'Unavailable' }));
      expect(api.sessions).toBe(0);
      const again = module.open();
      again.login(PIN);
      again.create(object('label'));
      expect(again.find('app')).toHaveLength(1);
    },
  );
});

describe('a module', () => {
  it('is loaded and initialized once, and has one session', () => {
    const api = new FakePkcs11(fakeSlot());
    let loads = 0;
    const load = (): Pkcs11Api => {
      loads++;
      return api;
    };
    const module = moduleOf(api, { load });
    for (let opens = 0; opens < 3; opens++) module.open();
    expect([loads, api.sessions, api.calls.filter((call) => call.startsWith('C_Init'))]).toEqual([
      1,
      1,
      ['C_Initialize with locks'],
    ]);
  });

  it('is initialized again after a failure, because some modules find other tokens only then', () => {
    const api = new FakePkcs11();
    const module = moduleOf(api);
    expect(() => module.open()).toThrow('there is no token; plug it in, or correct tokenLabel; found: none');
    api.slots.push(fakeSlot());
    api.fail('C_GetSlotList', CKR.GENERAL_ERROR);
    expect(() => module.open()).toThrow('cannot open the token: CKR_GENERAL_ERROR');
    expect(module.open().info().label).toBe('pico');
    expect(api.calls.filter((call) => /Initialize|Finalize/.test(call))).toEqual([
      'C_Initialize with locks',
      'C_Finalize',
      'C_Initialize with locks',
      'C_Finalize',
      'C_Initialize with locks',
    ]);
  });

  it('may be initialized already, or refuse locks', () => {
    for (const code of [CKR.CRYPTOKI_ALREADY_INITIALIZED, CKR.CANT_LOCK, CKR.ARGUMENTS_BAD]) {
      const api = new FakePkcs11(fakeSlot());
      api.fail('C_Initialize', code);
      expect(moduleOf(api).open().info().label).toBe('pico');
    }
    const api = new FakePkcs11(fakeSlot());
    api.fail('C_Initialize', CKR.HOST_MEMORY);
    expect(() => moduleOf(api).open()).toThrow('cannot open the token: CKR_HOST_MEMORY');
  });

  it('ignores tokens that disappear while they are listed', () => {
    const api = new FakePkcs11(fakeSlot({ slotId: 1, label: 'gone' }), fakeSlot());
    api.fail('C_GetTokenInfo', CKR.TOKEN_NOT_PRESENT);
    expect(moduleOf(api).open().info().label).toBe('pico');
  });

  it('explains a missing package and a missing library', () => {
    expect(() => loadPkcs11({ library: '/nonexistent.so', pkcs11js: 'pkcs11js-is-missing' })).toThrow(
      expect.objectContaining({
        problem: 'Pkcs11Unavailable',
        message: expect.stringContaining('is not installed; run "npm install pkcs11js@2.1.7"'),
      }),
    );
    // A package that is installed but was not compiled.
    expect(() => loadPkcs11({ library: '/nonexistent.so', pkcs11js: import.meta.filename })).toThrow(
      expect.objectContaining({ problem: 'Pkcs11Unavailable' }),
    );
  });
});

describe('a blank token', () => {
  const blank = (flags = 0): FakePkcs11 => new FakePkcs11(fakeSlot({ label: '', flags, pin: '', soPin: 'other' }));
  const provisioning = (soPin?: string) => ({
    pin: () => Buffer.from('1234'),
    soPin: () => (soPin === undefined ? undefined : Buffer.from(soPin)),
    provisioned: () => undefined,
  });
  const attempts = (api: FakePkcs11): number => api.calls.filter((call) => call.startsWith('C_InitToken')).length;

  it('is not used without provisioning', () => {
    expect(() => moduleOf(blank()).open()).toThrow('found: a blank token (serial number A1)');
  });

  it('is initialized with a padded label and a random PIN of the security officer, and found in its new slot', () => {
    const api = blank();
    const provisioned: unknown[] = [];
    const pins: Buffer[] = [];
    const pin = (): Buffer => {
      pins.push(Buffer.from('1234'));
      return pins.at(-1) as Buffer;
    };
    const token = moduleOf(api, {
      choice: { tokenLabel: 'münchen', slotId: 7 },
      provisioning: { ...provisioning(), pin, provisioned: (each) => provisioned.push(each) },
    }).open();
    token.login(PIN);
    expect(token.info()).toMatchObject({ label: 'münchen', isUserPinInitialized: true });
    expect(provisioned).toEqual([{ label: 'münchen', serialNumber: 'A1' }]);
    // 32 bytes; the PIN is 16 hexadecimal digits.
    expect(api.calls).toContain(`C_InitToken ${JSON.stringify(`münchen${' '.repeat(24)}`)} 16`);
    expect(pins).toEqual([Buffer.alloc(4)]);
    expect(api.sessions).toBe(1);
  });

  it('is initialized only if it is the only one, and no other token matches', () => {
    const usable = fakeSlot({ slotId: 1, label: 'usable' });
    const empty = (slotId: number) => fakeSlot({ slotId, label: '', flags: 0 });
    const open = (api: FakePkcs11, choice = {}) => moduleOf(api, { choice, provisioning: provisioning() }).open();
    const used = new FakePkcs11(usable, empty(2));
    expect(open(used).info().label).toBe('usable');
    const several = new FakePkcs11(empty(1), empty(2));
    expect(() => open(several)).toThrow('there is no token');
    const ambiguous = new FakePkcs11(usable, fakeSlot({ slotId: 3 }), empty(2));
    expect(() => open(ambiguous)).toThrow('there are 2 tokens; set tokenLabel or slotId');
    expect([attempts(used), attempts(several), attempts(ambiguous)]).toEqual([0, 0, 0]);
  });

  it('is not touched again once it has refused the PIN of the security officer', () => {
    const api = blank(CKF.TOKEN_INITIALIZED);
    const module = moduleOf(api, { provisioning: provisioning('wrong') });
    for (let opens = 0; opens < 3; opens++) {
      expect(() => module.open()).toThrow('it refuses the PIN of the security officer; correct soPinSecret');
    }
    expect(attempts(api)).toBe(1);
    // Nor by the next process, if the token reports the attempt.
    const [slot] = api.slots;
    if (slot) slot.flags |= CKF.SO_PIN_COUNT_LOW;
    const next = moduleOf(api, { provisioning: provisioning('wrong') });
    expect(() => next.open()).toThrow('a wrong PIN of the security officer was entered before');
    expect(attempts(api)).toBe(1);
  });

  it('is initialized with the given PIN of the security officer', () => {
    const api = blank(CKF.TOKEN_INITIALIZED);
    const token = moduleOf(api, { provisioning: provisioning('other') }).open();
    expect(token.info()).toMatchObject({ label: 'hsm-secrets', isUserPinInitialized: true });
  });

  it('stays untouched without a PIN of the user', () => {
    const api = blank();
    const pin = (): Buffer => {
      throw new Error('no PIN');
    };
    expect(() => moduleOf(api, { provisioning: { ...provisioning(), pin } }).open()).toThrow('cannot open the token');
    expect(attempts(api)).toBe(0);
  });
});

/** The fake has the functions of the real one. */
void (FakePkcs11 satisfies new () => Pkcs11Api);
