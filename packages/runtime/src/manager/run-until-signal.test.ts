import { expect, it } from 'vitest';
import { runUntilSignal } from './run-until-signal.ts';

it('aborts on the first signal, removes its listeners, and returns the result of the run', async () => {
  const before = process.listenerCount('SIGUSR2');
  const result = runUntilSignal(
    (signal) => new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason))),
    { signals: ['SIGUSR2'] },
  );
  expect(process.listenerCount('SIGUSR2')).toBe(before + 1);
  process.emit('SIGUSR2', 'SIGUSR2');
  expect(process.listenerCount('SIGUSR2')).toBe(before);
  expect(await result).toMatchObject({ code: 'BOWLINE_STOPPED', message: 'the process was stopped by SIGUSR2' });
});

it('stops listening when the run fails', async () => {
  const before = process.listenerCount('SIGUSR2');
  await expect(runUntilSignal(() => Promise.reject(new Error('no cluster')), { signals: ['SIGUSR2'] })).rejects.toThrow(
    'no cluster',
  );
  expect(process.listenerCount('SIGUSR2')).toBe(before);
});
