import { VirtualClock } from '@bowline/machinery';
import { describe, expect, it } from 'vitest';
import { LocalTokenService } from './local-token-service.ts';
import { MemoryPinAttempts, PinSecret } from './pin/pin-guard.test-support.ts';
import { PIN, softwareToken } from './software-token.test-support.ts';
import type { SoftwareToken } from './software-token.ts';
import type { Token } from './token.ts';
import { TokenError } from './token-error.ts';

const bytes = (text: string) => Buffer.from(text);

function serve(device: SoftwareToken = softwareToken(), wrap: (token: Token) => Token = (token) => token) {
  const secret = new PinSecret(PIN.toString());
  const attempts = new MemoryPinAttempts();
  const state = { opened: 0 };
  const open = (): Token => {
    state.opened++;
    return wrap(device.open());
  };
  const service = new LocalTokenService({ open, pin: secret, attempts, clock: new VirtualClock(), isSimulated: true });
  return { device, secret, state, service };
}

describe('a token service', () => {
  it('opens the token and logs in when it is first used, and then keeps the session', async () => {
    const { service, state } = serve();
    await service.write('db', { a: bytes('1') }, {});
    expect((await service.read('db')).data).toEqual({ a: bytes('1') });
    expect(await service.metadata('db')).toMatchObject({ version: 1 });
    expect(await service.list('')).toHaveLength(1);
    await service.remove('db', undefined);
    await service.purge('db', 2);
    expect(await service.list('')).toEqual([]);
    expect(state.opened).toBe(1);
  });

  it('reports its token, and whether it is simulated', async () => {
    const { service } = serve();
    expect(await service.status()).toEqual({
      token: expect.objectContaining({ serialNumber: 'T1', isPinCountLow: false }) as object,
      isLoggedIn: true,
      problem: undefined,
      isSimulated: true,
    });
  });

  it('reports why the token cannot be used, with its current flags, and rejects calls for the same reason', async () => {
    const { service, secret, device } = serve();
    secret.values = { current: '000000' };
    expect(await service.status()).toMatchObject({
      token: { isPinCountLow: true },
      isLoggedIn: false,
      problem: { reason: 'PINIncorrect', message: expect.stringContaining('"software" (T1) refused') as string },
    });
    await expect(service.read('db')).rejects.toMatchObject({ problem: 'PINIncorrect', code: 'BOWLINE_HSM_TOKEN' });
    secret.values = { current: PIN.toString() };
    expect(await service.status()).toMatchObject({ isLoggedIn: true, problem: undefined });
    expect(device.info().isPinCountLow).toBe(false);
  });

  it('reports that no token could be chosen', async () => {
    const service = new LocalTokenService({
      open: () => {
        throw new TokenError('TokenNotFound', 'no token in any slot');
      },
      pin: new PinSecret('1'),
      attempts: new MemoryPinAttempts(),
      clock: new VirtualClock(),
    });
    const problem = { reason: 'TokenNotFound', message: 'no token in any slot' };
    expect(await service.status()).toEqual({ token: undefined, isLoggedIn: false, problem, isSimulated: false });
    await expect(service.list('')).rejects.toMatchObject({ problem: 'TokenNotFound' });
  });

  it('opens the token again when its session has ended, also for a write', async () => {
    const { service, device, state } = serve();
    await service.write('db', { a: bytes('1') }, {});
    device.disconnect();
    expect((await service.read('db')).data).toEqual({ a: bytes('1') });
    device.disconnect();
    expect(await service.write('db', { a: bytes('2') }, {}, { replaces: 1 })).toMatchObject({ version: 2 });
    device.disconnect();
    expect(await service.status()).toMatchObject({ isLoggedIn: true });
    device.disconnect();
    await service.changePin(bytes('135790'));
    expect(state.opened).toBe(5);
  });

  it('does not repeat a write that has begun', async () => {
    const device = softwareToken();
    let creates = 0;
    const { service } = serve(device, (token) => ({
      ...token,
      create: (object) => {
        token.create(object);
        if (++creates === 3) device.disconnect();
      },
    }));
    await service.status();
    await expect(service.write('db', { a: bytes('1'), b: bytes('2'), c: bytes('3') }, {})).rejects.toMatchObject({
      problem: 'Unavailable',
      retryable: true,
    });
    await expect(service.read('db')).rejects.toMatchObject({ problem: 'NotFound' });
    await service.write('db', { a: bytes('1') }, {});
    expect(await service.list('')).toMatchObject([{ path: 'db', keys: ['a'] }]);
  });

  it('keeps the last description of a token that is gone', async () => {
    const device = softwareToken();
    let isGone = false;
    const gone = new TokenError('Unavailable', 'the device was removed');
    const { service } = serve(device, (token) => ({
      ...token,
      isLoggedIn: () => {
        if (isGone) throw gone;
        return token.isLoggedIn();
      },
    }));
    await service.status();
    isGone = true;
    expect(await service.status()).toMatchObject({
      token: { serialNumber: 'T1' },
      isLoggedIn: false,
      problem: { reason: 'Unavailable', message: 'the device was removed' },
    });
  });

  it('tries a PIN once for each request, even if the session ends during the attempt', async () => {
    const device = softwareToken();
    let logins = 0;
    const { service, secret } = serve(device, (token) => ({
      ...token,
      login: (pin) => {
        logins++;
        device.disconnect();
        token.login(pin);
      },
    }));
    secret.values = { current: '000000' };
    expect(await service.status()).toMatchObject({ problem: { reason: 'Unavailable' } });
    expect(await service.status()).toMatchObject({ problem: { reason: 'PINUncertain' } });
    expect(logins).toBe(1);
    expect(await service.retryPin()).toMatchObject({ problem: { reason: 'Unavailable' } });
    expect(logins).toBe(2);
  });

  it('retries the PIN on request', async () => {
    const { service, device } = serve();
    expect(() => device.open().login(bytes('000000'))).toThrow();
    expect(await service.status()).toMatchObject({ problem: { reason: 'PINUncertain' } });
    expect(await service.retryPin()).toMatchObject({ isLoggedIn: true, problem: undefined });
  });

  it('changes the PIN, and proves which one is mounted', async () => {
    const { service, secret, device } = serve();
    const nonce = Buffer.alloc(32, 1);
    const before = await service.provePin(nonce);
    const newPin = bytes('135790');
    await service.changePin(newPin);
    expect(newPin.toString()).toBe('135790');
    device.open().login(newPin);
    expect(await service.provePin(nonce)).toEqual(before);
    secret.values = { current: '135790' };
    expect(await service.provePin(nonce)).not.toEqual(before);
  });

  it('rejects calls that were aborted before they began', async () => {
    const { service, state } = serve();
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(service.read('db', signal)).rejects.toThrow('too late');
    await expect(service.status(signal)).rejects.toThrow('too late');
    await expect(service.changePin(PIN, signal)).rejects.toThrow('too late');
    await expect(service.provePin(PIN, signal)).rejects.toThrow('too late');
    expect(state.opened).toBe(0);
  });

  it('passes on errors that are not about the token', async () => {
    const { service } = serve(softwareToken(), () => {
      throw new TypeError('a defect');
    });
    await expect(service.status()).rejects.toThrow(TypeError);
  });
});
