import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { markUsed, removeUnused } from './image-cache.ts';

it('the cache keeps what was used in the last month', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bowline-cache-'));
  try {
    const longAgo = new Date(Date.now() - 31 * 24 * 3_600_000);
    for (const name of ['new', 'old', 'old-but-used']) writeFileSync(join(folder, name), '');
    for (const name of ['old', 'old-but-used']) utimesSync(join(folder, name), longAgo, longAgo);
    await markUsed(join(folder, 'old-but-used'));
    await removeUnused(folder);
    expect(readdirSync(folder).sort()).toEqual(['new', 'old-but-used']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
