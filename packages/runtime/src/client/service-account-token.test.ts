import { VirtualClock } from '@bowline/machinery';
import { expect, test } from 'vitest';
import { createClient } from './create-client.ts';
import { type ScriptedResponse, ScriptedTransport } from './scripted-transport.test-support.ts';
import { serviceAccountToken } from './service-account-token.ts';

const account = { namespace: 'ns', name: 'reader' };
const HOUR_MS = 3_600_000;

function sourceOf(...answers: ((now: number) => ScriptedResponse)[]) {
  const wire = new VirtualClock();
  const start = wire.now();
  const transport = new ScriptedTransport(...answers.map((answer) => answer(start)));
  const source = serviceAccountToken(createClient({ transport, wire }), account, { wire, expirationSeconds: 3600 });
  return { wire, transport, source };
}
const issued = (token: string, expiresAfterMs: number) => (now: number) => ({
  body: { status: { token, expirationTimestamp: new Date(now + expiresAfterMs).toISOString() } },
});
const broken = (): ScriptedResponse => ({ status: 500, body: {} });

test('requests a token once, and the next one after four fifths of its lifetime', async () => {
  const { wire, transport, source } = sourceOf(issued('first', HOUR_MS), issued('second', 2 * HOUR_MS));
  expect(await Promise.all([source(), source()])).toEqual(['first', 'first']);
  expect(transport.sent(0)).toMatchObject({ kind: 'TokenRequest', spec: { expirationSeconds: 3600 } });
  await wire.advance(0.8 * HOUR_MS - 1);
  expect(source()).toBe('first');
  await wire.advance(1);
  expect(await source()).toBe('second');
  expect(transport.requests).toHaveLength(2);
});

test('uses the current token until it expires if no other can be requested', async () => {
  const { wire, source } = sourceOf(issued('first', HOUR_MS), broken, broken, issued('second', 2 * HOUR_MS));
  expect(await source()).toBe('first');
  await wire.advance(0.9 * HOUR_MS);
  expect(await source()).toBe('first');
  await wire.advance(0.1 * HOUR_MS);
  await expect(Promise.resolve(source())).rejects.toMatchObject({ status: 500 });
  expect(await source()).toBe('second');
});
