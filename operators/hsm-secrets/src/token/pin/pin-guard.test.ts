import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Interruption, interruptible, interruptibleStore } from '../interruption.test-support.ts';
import { SoftwareToken } from '../software-token.ts';
import type { Token } from '../token.ts';
import { TokenError, type TokenProblem } from '../token-error.ts';
import { MemoryPinAttempts, PinSecret } from './pin-guard.test-support.ts';
import { PinGuard } from './pin-guard.ts';

const newToken = (pin: string, reportsPinTries = true): SoftwareToken =>
  new SoftwareToken({ serialNumber: 'T1', pin: Buffer.from(pin), reportsPinTries });

/** Pod is an agent's pod: a token, the mounted PIN Secret, the record of attempts, and containers that restart. */
class Pod {
  readonly device: SoftwareToken;
  readonly secret: PinSecret;
  readonly attempts = new MemoryPinAttempts();
  /** All PINs that reached the token, with a mark if they were wrong. */
  readonly tried: string[] = [];
  guard: PinGuard;

  constructor(device: SoftwareToken, secret: PinSecret) {
    this.device = device;
    this.secret = secret;
    this.guard = new PinGuard(secret, this.attempts);
  }

  session(): Token {
    const token = this.device.open();
    const login = (pin: Buffer): void => {
      const text = pin.toString();
      try {
        token.login(pin);
        this.tried.push(text);
      } catch (error) {
        this.tried.push(`${text} refused`);
        throw error;
      }
    };
    return { ...token, login };
  }

  restart(): void {
    this.guard = new PinGuard(this.secret, this.attempts);
  }

  login(): TokenProblem | 'ok' {
    return problemOf(() => this.guard.login(this.session()));
  }

  retry(): TokenProblem | 'ok' {
    return problemOf(() => this.guard.retry(this.session()));
  }
}

function problemOf(work: () => void): TokenProblem | 'ok' {
  try {
    work();
    return 'ok';
  } catch (error) {
    if (error instanceof TokenError) return error.problem;
    throw error;
  }
}

describe('a login', () => {
  it('tries the PIN, clears it, and leaves no record of a successful attempt', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234', '5678'));
    expect(pod.login()).toBe('ok');
    expect(pod.tried).toEqual(['1234']);
    expect(pod.secret.areCopiesCleared).toBe(true);
    expect(pod.attempts.read()?.attempts).toEqual([]);
  });

  it('does nothing in a session that is logged in', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234'));
    const token = pod.session();
    pod.guard.login(token);
    pod.guard.login(token);
    pod.guard.retry(token);
    expect(pod.tried).toEqual(['1234']);
  });

  it.each([true, false])('tries a wrong PIN once, however often it is restarted (flags: %s)', (reportsPinTries) => {
    const pod = new Pod(newToken('1234', reportsPinTries), new PinSecret('0000'));
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(pod.login()).toBe('PINIncorrect');
      pod.restart();
    }
    expect(pod.tried).toEqual(['0000 refused']);
    expect(pod.secret.areCopiesCleared).toBe(true);
    expect(pod.attempts.text).not.toContain('0000');
  });

  it('tries a changed PIN once, and then no more than the token allows', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('0000'));
    expect(pod.login()).toBe('PINIncorrect');
    pod.secret.values = { current: '1111' };
    expect(pod.login()).toBe('PINIncorrect');
    expect(pod.login()).toBe('PINFinalTry');
    pod.secret.values = { current: '1234' };
    expect(pod.login()).toBe('PINFinalTry');
    expect(pod.tried).toEqual(['0000 refused', '1111 refused']);
    expect(pod.retry()).toBe('ok');
    expect(pod.login()).toBe('ok');
    expect(pod.device.info()).toMatchObject({ isPinCountLow: false, isPinLocked: false });
  });

  it('tries a PIN again that returns to the Secret after another one', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('0000'));
    pod.login();
    pod.secret.values = { current: '1234' };
    expect(pod.login()).toBe('ok');
    pod.secret.values = { current: '0000' };
    expect(pod.login()).toBe('PINIncorrect');
    expect(pod.tried).toEqual(['0000 refused', '1234', '0000 refused']);
  });

  it('waits when the token reports a wrong PIN of unknown origin', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234', '1234'));
    expect(problemOf(() => pod.device.open().login(Buffer.from('9999')))).toBe('PINIncorrect');
    expect(pod.login()).toBe('PINUncertain');
    expect(pod.tried).toEqual([]);
    expect(pod.retry()).toBe('ok');
  });

  it('tries the next PIN once if the current one is refused', () => {
    const pod = new Pod(newToken('5678'), new PinSecret('1234', '5678'));
    expect(pod.login()).toBe('ok');
    pod.restart();
    expect(pod.login()).toBe('ok');
    expect(pod.tried).toEqual(['1234 refused', '5678', '5678']);
    pod.secret.values = { current: '5678' };
    pod.restart();
    expect(pod.login()).toBe('ok');
    expect(pod.attempts.read()?.attempts).toEqual([]);
  });

  it('tries no next PIN that is equal to the refused one', () => {
    const pod = new Pod(newToken('5678'), new PinSecret('1234', '1234'));
    expect(pod.login()).toBe('PINIncorrect');
    expect(pod.tried).toEqual(['1234 refused']);
  });

  it('tries neither PIN twice if both are wrong', () => {
    const pod = new Pod(newToken('9999'), new PinSecret('1234', '5678'));
    expect(pod.login()).toBe('PINIncorrect');
    pod.restart();
    expect(pod.login()).toBe('PINFinalTry');
    expect(pod.tried).toEqual(['1234 refused', '5678 refused']);
    expect(pod.device.info().isPinLocked).toBe(false);
  });

  it('does not try the next PIN when the token reported a low count before', () => {
    const pod = new Pod(
      new SoftwareToken({ serialNumber: 'T1', pin: Buffer.from('5678'), maxPinTries: 9 }),
      new PinSecret('0000'),
    );
    expect(pod.login()).toBe('PINIncorrect');
    pod.secret.values = { current: '1234', next: '5678' };
    expect(pod.login()).toBe('PINIncorrect');
    expect(pod.login()).toBe('PINIncorrect');
    expect(pod.tried).toEqual(['0000 refused', '1234 refused']);
  });

  it('does not repeat an attempt whose result was lost, until it is requested', () => {
    for (const reportsPinTries of [true, false]) {
      for (const pin of ['0000', '1234']) {
        const pod = new Pod(newToken('1234', reportsPinTries), new PinSecret(pin));
        const token = interruptible(pod.session(), new Interruption(1, 'after', 'changes'));
        expect(() => pod.guard.login(token)).toThrow('killed');
        pod.restart();
        expect(pod.login()).toBe('PINUncertain');
        expect(pod.tried).toHaveLength(1);
        expect(pod.retry()).toBe(pin === '1234' ? 'ok' : 'PINIncorrect');
      }
    }
  });

  it('never tries a wrong PIN twice when it is interrupted at any call', () => {
    for (let call = 1; call < 20; call++) {
      for (const moment of ['before', 'after'] as const) {
        const pod = new Pod(newToken('9999', false), new PinSecret('1234', '5678'));
        const interruption = new Interruption(call, moment);
        const guard = new PinGuard(pod.secret, interruptibleStore(pod.attempts, interruption));
        expect(() => guard.login(interruptible(pod.session(), interruption))).toThrow();
        for (let restart = 0; restart < 3; restart++) {
          pod.restart();
          pod.login();
        }
        expect(new Set(pod.tried).size).toBe(pod.tried.length);
      }
    }
  });

  it('treats every PIN as tried if the record is unreadable', () => {
    const secret = new PinSecret('1234');
    const guard = new PinGuard(secret, { read: () => 'unreadable', write: () => undefined });
    const device = newToken('1234');
    expect(problemOf(() => guard.login(device.open()))).toBe('PINUncertain');
    expect(problemOf(() => guard.retry(device.open()))).toBe('ok');
  });

  it('does not try a PIN if the attempt cannot be recorded', () => {
    const write = (): never => {
      throw Object.assign(new Error('read-only'), { code: 'EROFS' });
    };
    const guard = new PinGuard(new PinSecret('1234'), { read: () => undefined, write });
    const token = newToken('1234').open();
    expect(() => guard.login(token)).toThrow('cannot write the record of tried PINs: EROFS');
    expect(token.isLoggedIn()).toBe(false);
  });

  it.each<readonly [string, Pod, RegExp]>([
    ['a missing PIN', new Pod(newToken('1'), new PinSecret()), /the PIN Secret contains no PIN for the token; add it/],
    [
      'a blank token',
      new Pod(new SoftwareToken({ serialNumber: 'T1' }), new PinSecret('1')),
      /"software" \(T1\) has no user PIN/,
    ],
    ['a wrong PIN', new Pod(newToken('1'), new PinSecret('4711')), /refused the PIN; correct the PIN Secret/],
  ])('explains %s without the PIN', (_, pod, message) => {
    expect(() => pod.guard.login(pod.session())).toThrow(message);
    expect(() => pod.guard.login(pod.session())).not.toThrow(/4711/);
  });

  it('reports a file that cannot be read', () => {
    const current = (): never => {
      throw Object.assign(new Error('no access to 4711'), { code: 'EACCES' });
    };
    const guard = new PinGuard({ current, next: () => undefined }, new MemoryPinAttempts());
    expect(() => guard.login(newToken('1').open())).toThrow(/^cannot read the PIN Secret: EACCES$/);
  });
});

describe('a requested attempt', () => {
  it('is made once, with the current PIN only, and never on a locked token', () => {
    const pod = new Pod(newToken('5678'), new PinSecret('1234', '5678'));
    expect(pod.retry()).toBe('PINIncorrect');
    expect(pod.retry()).toBe('PINIncorrect');
    expect(pod.retry()).toBe('PINLocked');
    expect(pod.retry()).toBe('PINLocked');
    expect(pod.tried).toEqual(['1234 refused', '1234 refused', '1234 refused']);
  });
});

describe('a change of the PIN', () => {
  const change = (pod: Pod, pin: string): Token => {
    const token = pod.session();
    pod.guard.login(token);
    pod.guard.changePin(token, Buffer.from(pin));
    return token;
  };

  it('sets the PIN, and causes no wrong attempt afterwards', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234', '5678'));
    change(pod, '5678');
    pod.restart();
    expect(pod.login()).toBe('ok');
    pod.secret.values = { current: '5678' };
    pod.restart();
    expect(pod.login()).toBe('ok');
    expect(pod.tried).toEqual(['1234', '5678', '5678']);
    expect(pod.secret.areCopiesCleared).toBe(true);
  });

  it('can be repeated, and continued by another one', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234', '5678'));
    const token = change(pod, '5678');
    pod.guard.changePin(token, Buffer.from('5678'));
    pod.guard.changePin(token, Buffer.from('1234'));
    pod.secret.values = { current: '1234' };
    pod.restart();
    expect(pod.login()).toBe('ok');
    expect(pod.tried).toEqual(['1234', '1234']);
  });

  it('that was interrupted at any call costs at most one wrong attempt, and can be repeated', () => {
    for (let call = 1; call < 12; call++) {
      for (const moment of ['before', 'after'] as const) {
        const pod = new Pod(newToken('1234'), new PinSecret('1234', '5678'));
        const session = pod.session();
        pod.guard.login(session);
        const interruption = new Interruption(call, moment);
        const store = interruptibleStore(pod.attempts, interruption);
        const guard = new PinGuard(pod.secret, store);
        const token = interruptible(pod.session(), interruption);
        try {
          guard.login(token);
          guard.changePin(token, Buffer.from('5678'));
        } catch (error) {
          if (!interruption.isKilled) throw error;
        }
        pod.restart();
        if (pod.login() !== 'ok') expect(pod.retry()).toBe('ok');
        change(pod, '5678');
        pod.device.open().login(Buffer.from('5678'));
        expect(pod.tried.filter((each) => each.endsWith('refused')).length).toBeLessThanOrEqual(1);
      }
    }
  });

  it('is refused when the PIN of the login is no longer mounted, because the old one would be guessed', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234'));
    const token = pod.session();
    pod.guard.login(token);
    pod.secret.values = { current: '0000' };
    expect(problemOf(() => pod.guard.changePin(token, Buffer.from('5678')))).toBe('PINUncertain');
    expect(pod.device.info().isPinCountLow).toBe(false);
  });

  it('that the token refuses is recorded', () => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234'));
    const token = pod.session();
    pod.guard.login(token);
    const other = pod.device.open();
    other.login(Buffer.from('1234'));
    other.setPin(Buffer.from('1234'), Buffer.from('9999'));
    expect(problemOf(() => pod.guard.changePin(token, Buffer.from('5678')))).toBe('PINIncorrect');
    expect(pod.login()).toBe('PINIncorrect');
    expect(pod.tried).toEqual(['1234']);
  });

  it.each([0, 256])('refuses a PIN of %i bytes', (length) => {
    const pod = new Pod(newToken('1234'), new PinSecret('1234'));
    expect(problemOf(() => pod.guard.changePin(pod.session(), Buffer.alloc(length, '1')))).toBe('Invalid');
  });
});

describe('the proof of the PIN', () => {
  it('is an HMAC of the nonce with the current PIN', () => {
    const guard = new PinGuard(new PinSecret('1234', '5678'), new MemoryPinAttempts());
    const nonce = Buffer.alloc(32, 7);
    expect(guard.provePin(nonce)).toEqual(createHmac('sha256', '1234').update(nonce).digest());
  });

  it('needs a PIN and a nonce of reasonable length', () => {
    const guard = new PinGuard(new PinSecret(), new MemoryPinAttempts());
    expect(problemOf(() => guard.provePin(Buffer.alloc(32)))).toBe('PINMissing');
    expect(problemOf(() => guard.provePin(Buffer.alloc(15)))).toBe('Invalid');
    expect(problemOf(() => guard.provePin(Buffer.alloc(1_025)))).toBe('Invalid');
  });
});
