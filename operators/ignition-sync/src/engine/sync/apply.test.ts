import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DataFolder } from '../files/data-folder.ts';
import { Backups } from '../state/backups.ts';
import { type Journal, stagingPath, writeJournal } from '../state/journal.ts';
import { applyJournal } from './apply.ts';
import { TestFolder } from './engine.test-support.ts';

describe('applying a journal', () => {
  it('copies a file beside its path where a part of the data folder is another file system', async () => {
    await using test = new TestFolder();
    test.write('projects/a', 'old');
    const folder = await DataFolder.open(test.path);
    const operations = [{ action: 'place', path: 'projects/a', staged: '0' } as const];
    const journal: Journal = { id: 'ab', commit: 'c', ref: 'r', settingsHash: 's', backup: '1', operations };
    mkdirSync(stagingPath(folder, 'ab'));
    writeFileSync(join(stagingPath(folder, 'ab'), '0'), 'new', { mode: 0o755 });
    await writeJournal(folder, journal);
    const move = (): Promise<void> => Promise.reject(Object.assign(new Error('cross-device'), { code: 'EXDEV' }));
    await applyJournal(folder, journal, { onStep: () => undefined, backups: new Backups(folder, '1'), move });
    expect(test.files()).toEqual({ 'projects/a': 'new' });
    expect(readFileSync(join(folder.state, 'replaced/1/projects/a'), 'utf8')).toBe('old');
  });

  it('backs up a file that the gateway creates again where a killed agent had deleted it', async () => {
    await using test = new TestFolder();
    const folder = await DataFolder.open(test.path);
    const expected = { size: 1, mtime: '1', inode: '1' };
    const operations = [{ action: 'delete', path: 'projects/a', expected } as const];
    test.write('projects/a', 'again');
    const journal: Journal = { id: 'ab', commit: 'c', ref: 'r', settingsHash: 's', backup: '1', operations };
    await applyJournal(folder, journal, { onStep: () => undefined, backups: new Backups(folder, '1') });
    expect(test.files()).toEqual({});
    expect(test.replaced()).toEqual({ 'projects/a': 'again' });
  });
});
