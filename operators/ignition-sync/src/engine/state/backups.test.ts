import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataFolder } from '../files/data-folder.ts';
import { type BackupLimits, Backups, backupName } from './backups.ts';

async function setUp() {
  const path = mkdtempSync(join(tmpdir(), 'bowline-backups-'));
  const folder = await DataFolder.open(path);
  const write = (name: string, content: string): void => {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    rmSync(join(path, name), { force: true });
    writeFileSync(join(path, name), content);
  };
  const at = (day: number, limits?: BackupLimits): Backups =>
    new Backups(folder, backupName(Date.UTC(2025, 0, day)), limits);
  const replaced = join(folder.state, 'replaced');
  return { folder, write, at, replaced, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

describe('backups', () => {
  it('keep the last syncs, and remove the oldest first', async () => {
    using world = await setUp();
    for (let day = 1; day <= 7; day++) {
      world.write('a', `day ${day}`);
      await world.at(day).keep('a');
    }
    const days = readdirSync(world.replaced).toSorted();
    expect(days).toEqual([3, 4, 5, 6, 7].map((day) => `2025-01-0${day}T00-00-00-000Z`));
    expect(readFileSync(join(world.replaced, days[0] ?? '', 'a'), 'utf8')).toBe('day 3');
  });

  it('stay within their size, and count what does not fit', async () => {
    using world = await setUp();
    const limits = { maxBytes: 10 };
    for (const name of ['a', 'b', 'c', 'd/e']) world.write(name, '12345');
    world.write('large', '12345678901');
    await world.at(1, limits).keep('a');
    const backups = world.at(2, limits);
    for (const name of ['b', 'c', 'd/e', 'large']) await backups.keep(name);
    expect(backups).toMatchObject({ kept: 2, notKept: 2 });
    expect(readdirSync(world.replaced)).toHaveLength(1);
  });

  it('are made once, and again if the gateway writes the file again', async () => {
    using world = await setUp();
    const backups = world.at(1);
    world.write('a', 'one');
    await backups.keep('a');
    await backups.keep('a');
    expect(backups.kept).toBe(1);
    world.write('a', 'two, longer');
    await backups.keep('a');
    const contents = readdirSync(world.replaced).map((name) => readFileSync(join(world.replaced, name, 'a'), 'utf8'));
    expect(contents.toSorted()).toEqual(['one', 'two, longer']);
  });

  it('are made of a file and of files below a folder of the same name', async () => {
    using world = await setUp();
    const backups = world.at(1);
    world.write('a', 'file');
    await backups.keep('a');
    rmSync(world.folder.absolute('a'));
    world.write('a/b', 'below');
    await backups.keep('a/b');
    expect(backups).toMatchObject({ kept: 2, notKept: 0 });
  });
});
