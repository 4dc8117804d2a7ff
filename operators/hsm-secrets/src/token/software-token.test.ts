import { describe, expect, it } from 'vitest';
import { addObjects, labelsOn, loggedIn, PIN, softwareToken } from './software-token.test-support.ts';
import { SoftwareToken } from './software-token.ts';
import { TokenError } from './token-error.ts';

const WRONG = Buffer.from('000000');
const OBJECT = { label: 'a/b', application: 'app', objectId: Buffer.from([6, 0]), value: Buffer.from('v') };

const problemOf = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof TokenError ? error.problem : String(error);
  }
};

describe('a software token', () => {
  it('describes itself as simulated', () => {
    const { label, serialNumber, model } = softwareToken({ label: 'pico' }).open().info();
    expect({ label, serialNumber, model }).toEqual({
      label: 'pico',
      serialNumber: 'T1',
      model: 'software token (simulated)',
    });
  });

  it('counts wrong PINs, reports them, and is locked by the third', () => {
    const token = softwareToken().open();
    const flags = () => {
      const { isPinCountLow, isPinFinalTry, isPinLocked } = token.info();
      return [isPinCountLow, isPinFinalTry, isPinLocked];
    };
    expect(flags()).toEqual([false, false, false]);
    expect(problemOf(() => token.login(WRONG))).toBe('PINIncorrect');
    expect(flags()).toEqual([true, false, false]);
    token.login(PIN);
    expect(flags()).toEqual([false, false, false]);
    expect(problemOf(() => token.setPin(WRONG, PIN))).toBe('PINIncorrect');
    expect(problemOf(() => token.login(WRONG))).toBe('PINIncorrect');
    expect(flags()).toEqual([true, true, false]);
    expect(problemOf(() => token.login(WRONG))).toBe('PINIncorrect');
    expect(flags()).toEqual([true, false, true]);
    expect(problemOf(() => token.login(PIN))).toBe('PINLocked');
  });

  it('can hide the count, like tokens without these flags', () => {
    const token = softwareToken({ reportsPinTries: false, maxPinTries: 2 }).open();
    expect(problemOf(() => token.login(WRONG))).toBe('PINIncorrect');
    expect(token.info()).toMatchObject({ isPinCountLow: false, isPinFinalTry: false, isPinLocked: false });
    expect(problemOf(() => token.login(WRONG))).toBe('PINIncorrect');
    expect(token.info().isPinLocked).toBe(true);
  });

  it('is blank until it is initialized, once', () => {
    const device = new SoftwareToken({ serialNumber: 'T1' });
    expect(device.info().isUserPinInitialized).toBe(false);
    expect(problemOf(() => device.open().login(PIN))).toBe('Invalid');
    device.initialize(PIN);
    expect(device.info().isUserPinInitialized).toBe(true);
    device.open().login(PIN);
    expect(problemOf(() => device.initialize(WRONG))).toBe('Invalid');
    expect(problemOf(() => loggedIn(device).setPin(PIN, Buffer.alloc(0)))).toBe('Invalid');
  });

  it('shows its objects only after login, and keeps copies of their values', () => {
    const device = softwareToken();
    const token = loggedIn(device);
    const value = Buffer.from('v');
    token.create({ ...OBJECT, value });
    value.fill(0);
    const [object] = token.find('app');
    if (object === undefined) throw new Error('the object is missing');
    expect(token.read(object.handle).toString()).toBe('v');
    expect(object).toMatchObject({ label: 'a/b', application: 'app', objectId: OBJECT.objectId });
    expect(token.find('other')).toEqual([]);
    const other = device.open();
    expect(other.find('app')).toEqual([]);
    expect(problemOf(() => other.read(object.handle))).toBe('NotFound');
    expect(problemOf(() => other.create(OBJECT))).toBe('Unavailable');
    token.destroy(object.handle);
    expect(problemOf(() => token.read(object.handle))).toBe('NotFound');
    expect(problemOf(() => token.destroy(object.handle))).toBe('NotFound');
  });

  it('is full when its memory is used, until objects are destroyed', () => {
    const device = softwareToken({ capacityBytes: 200 });
    const token = loggedIn(device);
    token.create({ ...OBJECT, value: Buffer.alloc(100) });
    expect(problemOf(() => token.create({ ...OBJECT, value: Buffer.alloc(10) }))).toBe('Full');
    for (const { handle } of token.find('app')) token.destroy(handle);
    token.create({ ...OBJECT, value: Buffer.alloc(10) });
  });

  it('ends all sessions when it is disconnected', () => {
    const device = softwareToken();
    const token = loggedIn(device);
    device.disconnect();
    for (const call of [token.info, token.isLoggedIn, () => token.find('app'), () => token.login(PIN)])
      expect(problemOf(call)).toBe('Unavailable');
    expect(loggedIn(device).find('app')).toEqual([]);
  });

  it('is restored from JSON with its content, PIN and wrong attempts, and without the PIN in clear text', () => {
    const device = softwareToken({ label: 'pico', capacityBytes: 5_000, maxPinTries: 5 });
    addObjects(device, [['db/a', 'value']]);
    expect(problemOf(() => device.open().login(WRONG))).toBe('PINIncorrect');
    const json = JSON.stringify(device.snapshot());
    expect(json).not.toContain(PIN.toString());
    const restored = SoftwareToken.restore(JSON.parse(json));
    expect(restored.snapshot()).toEqual(JSON.parse(json));
    expect(restored.info()).toEqual(device.info());
    expect(labelsOn(restored)).toEqual(['db/a']);
    const blank = new SoftwareToken({ serialNumber: 'T2' });
    expect(SoftwareToken.restore(blank.snapshot()).info()).toEqual(blank.info());
  });
});
