import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { MAX_PATHS, RateLimit } from './rate-limit.ts';
import { BodyBudget } from './read-body.ts';
import { receiverWorld } from './receiver.test-support.ts';
import { MAX_DELIVERIES } from './webhook-handler.ts';

it('counts the requests of a bounded number of paths', async () => {
  const clock = new VirtualClock();
  const limit = new RateLimit({ perMinute: 1, clock });
  for (let path = 0; path < MAX_PATHS + 100; path++) limit.take(String(path));
  expect(limit.size).toBe(MAX_PATHS);
  expect(limit.take(String(MAX_PATHS))).toBe(60);
  await clock.advance(60_000);
  expect(limit.take('another')).toBeUndefined();
  expect(limit.size).toBe(1);
});

it('remembers a bounded number of deliveries', async () => {
  const { handler } = receiverWorld({ hmac: null, allowUnauthenticated: true, rateLimit: 100_000 });
  const bytes = Buffer.from('{}');
  const deliver = (id: number) =>
    handler.answer({
      method: 'POST',
      url: '/webhook/plant/site',
      headers: { 'x-github-event': 'ping', 'x-github-delivery': String(id) },
      readBody: () => Promise.resolve({ bytes, [Symbol.dispose]: () => undefined }),
    });
  for (let id = 0; id <= MAX_DELIVERIES; id++) await deliver(id);
  expect(handler.remembered).toEqual({ paths: 1, deliveries: MAX_DELIVERIES });
  expect((await deliver(1)).body.message).toBe('already received');
  expect((await deliver(0)).body.message).toBe('pong');
});

it('holds a bounded number of bytes', () => {
  const budget = new BodyBudget(10);
  budget.take(6);
  expect(() => budget.take(5)).toThrow(expect.objectContaining({ status: 503, headers: { 'retry-after': '1' } }));
  budget.release(6);
  budget.take(10);
});
