import { expect, it } from 'vitest';
import { untilAborted } from './until-aborted.ts';

it('resolves when the signal is aborted, and at once when it already was', async () => {
  const controller = new AbortController();
  let resolved = false;
  const waiting = untilAborted(controller.signal).then(() => {
    resolved = true;
  });
  await Promise.resolve();
  expect(resolved).toBe(false);
  controller.abort();
  await waiting;
  await untilAborted(controller.signal);
});
