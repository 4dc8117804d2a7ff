import { expect, it } from 'vitest';
import { startBowline } from '../testing/child-process.test-support.ts';

it.each(['SIGTERM', 'SIGINT'] as const)(
  'stops a long-running command at %s with exit code 0, after it has cleaned up',
  { timeout: 60_000 },
  async (signal) => {
    await using child = await startBowline(['toolbox', 'agent']);
    await child.logged(/agent started/);
    const { code, output } = await child.stop(signal);
    expect(output).toMatch(/agent stopped/);
    expect(code).toBe(0);
  },
);

it('ends an interrupted command with exit code 1', { timeout: 60_000 }, async () => {
  await using child = await startBowline(['toolbox', 'sort']);
  await child.logged(/sorting/);
  const { code, output } = await child.stop('SIGTERM');
  expect(output).toMatch(/error: stopped by SIGTERM; run the command again to continue \[BOWLINE_INTERRUPTED\]/);
  expect(code).toBe(1);
});
