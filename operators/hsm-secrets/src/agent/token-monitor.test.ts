import { VirtualClock } from '@bowline/machinery';
import { silentLog } from '@bowline/runtime/manager';
import { expect, it } from 'vitest';
import { LocalTokenService } from '../token/local-token-service.ts';
import { SoftwareToken } from '../token/software-token.ts';
import { TokenError } from '../token/token-error.ts';
import { TokenMonitor } from './token-monitor.ts';

it('is ready while the token responds and is logged in, and logs changes only', async () => {
  const clock = new VirtualClock();
  const token = new SoftwareToken({ serialNumber: 'A1', pin: Buffer.from('1234') });
  let isPluggedIn = false;
  const service = new LocalTokenService({
    open() {
      if (!isPluggedIn) throw new TokenError('TokenNotFound', 'there is no token');
      return token.open();
    },
    pin: { current: () => Buffer.from('1234'), next: () => undefined },
    attempts: { read: () => undefined, write() {} },
    clock,
  });
  const lines: unknown[] = [];
  const record = (message: string): void => void lines.push(message);
  const monitor = new TokenMonitor({ service, clock, log: { ...silentLog, info: record, warn: record } });
  expect(monitor.problem()).toBe('the token has not responded yet');
  const stop = new AbortController();
  const running = monitor.run(stop.signal);
  await clock.advance(20_000);
  expect(monitor.problem()).toBe('TokenNotFound: there is no token');
  isPluggedIn = true;
  await clock.advance(10_000);
  expect(monitor.problem()).toBeUndefined();
  await clock.advance(300_000);
  isPluggedIn = false;
  token.disconnect();
  await clock.advance(10_000);
  expect(monitor.problem()).toBe('TokenNotFound: there is no token');
  stop.abort();
  await running;
  expect(lines).toEqual(['token cannot be used', 'token is ready', 'token cannot be used']);
});

it('is not ready when the check does not end', async () => {
  const clock = new VirtualClock();
  const status = { token: undefined, isLoggedIn: true, problem: undefined, isSimulated: false };
  const results = [Promise.resolve(status), new Promise<never>(() => {})];
  const monitor = new TokenMonitor({ service: { status: () => results.shift() ?? Promise.reject() }, clock });
  void monitor.run(new AbortController().signal);
  await clock.advance(60_000);
  expect(monitor.problem()).toBeUndefined();
  await clock.advance(1_000);
  expect(monitor.problem()).toBe('the token has not responded for 61 s');
});
