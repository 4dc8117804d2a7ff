import { VirtualClock } from '@bowline/machinery';
import { expect, it } from 'vitest';
import { type CheckedSecrets, SyncMemory } from './sync-memory.ts';

const key = { namespace: 'plant', name: 'a' };
const checked = (digest: string): CheckedSecrets => ({
  source: undefined,
  digest,
  problem: undefined,
  gatewayProblem: undefined,
  webhookProblem: undefined,
});

function harness() {
  const clock = new VirtualClock();
  const memory = new SyncMemory(clock);
  let reads = 0;
  const read = (version: string, uid = '1') => memory.secrets(key, uid, version, async () => checked(`${++reads}`));
  return { clock, memory, read };
}

it('reads Secrets again after some seconds, with another version, and for a recreated object', async () => {
  const { clock, read } = harness();
  expect((await read('a')).digest).toBe('1');
  expect((await read('a')).digest).toBe('1');
  await clock.advance(10_000);
  expect((await read('a')).digest).toBe('2');
  expect((await read('b')).digest).toBe('3');
  expect((await read('b', '2')).digest).toBe('4');
});

it('reads Secrets again after a read that failed', async () => {
  const { memory, read } = harness();
  await expect(memory.secrets(key, '1', 'a', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  expect((await read('a')).digest).toBe('1');
});

it('delays details until a second after the last ones', async () => {
  const { clock, memory } = harness();
  expect(memory.detailsDelayMs(key, '1')).toBe(0);
  memory.detailsWritten(key, '1');
  await clock.advance(400);
  expect(memory.detailsDelayMs(key, '1')).toBe(600);
  await clock.advance(600);
  expect(memory.detailsDelayMs(key, '1')).toBe(0);
});

it('remembers the host keys that the status had first, until the object is deleted', () => {
  const { memory } = harness();
  expect(memory.pinnedAtFirst(key, '1', [])).toEqual([]);
  expect(memory.pinnedAtFirst(key, '1', ['SHA256:a'])).toEqual([]);
  memory.forget(key);
  expect(memory.pinnedAtFirst(key, '1', ['SHA256:a'])).toEqual(['SHA256:a']);
});
