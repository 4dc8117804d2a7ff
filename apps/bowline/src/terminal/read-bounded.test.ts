import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readBounded } from './read-bounded.ts';

const never = new AbortController().signal;

it('returns the bytes of all chunks, up to the limit', async () => {
  const chunks = [Uint8Array.of(0, 255), Uint8Array.of(10)];
  expect(await readBounded(Readable.from(chunks), 3, never)).toEqual(Buffer.of(0, 255, 10));
  expect(await readBounded(Readable.from([]), 3, never)).toEqual(Buffer.alloc(0));
});

it('returns nothing of a larger stream, and closes it', async () => {
  const stream = new PassThrough();
  stream.write('1234');
  expect(await readBounded(stream, 3, never)).toBeUndefined();
  expect(stream.destroyed).toBe(true);
});

it('stops waiting for more when the signal is aborted, and closes the stream', async () => {
  const stream = new PassThrough();
  stream.write('1');
  const abort = new AbortController();
  const reading = readBounded(stream, 3, abort.signal);
  const reason = new Error('stopped');
  abort.abort(reason);
  await expect(reading).rejects.toBe(reason);
  expect(stream.destroyed).toBe(true);
});
