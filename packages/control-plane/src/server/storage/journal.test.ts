import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@bowline/machinery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openJournal } from './journal.ts';
import { FORMAT_VERSION, writeRecord } from './journal-record.ts';
import { Storage } from './storage.ts';
import type { Stored } from './stored.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bowline-journal-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function open() {
  const opened = openJournal(folder);
  const { restored, journal } = opened;
  const storage = new Storage({ clock: new VirtualClock(), journal, restored, history: { changes: 10 } });
  return { ...opened, storage, [Symbol.dispose]: opened.close };
}

function thing(name: string, data = '', labels?: Record<string, string>) {
  return { metadata: { name, namespace: 'default', uid: `uid of ${name}`, labels }, data };
}

function put(storage: Storage, name: string, data: string): void {
  const key = `default/${name}`;
  const stored = storage.get('things', key);
  const put = stored
    ? storage.update('things', key, stored.revision, thing(name, data))
    : storage.create('things', key, thing(name, data));
  if (!put) throw new Error(`${name} was not stored`);
}

function content(storage: Storage): Stored[] {
  return ['things', 'roles'].flatMap((collection) => [...storage.select(collection)]);
}

function sizeOfFolder(): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

describe('openJournal', () => {
  it('restores every object, and the revision even if the last write was a deletion', () => {
    using before = open();
    put(before.storage, 'a', 'tab\t, line\n and ünïcode 🪢');
    before.storage.create('roles', '/a name\twith "anything"', thing('b', '', { l: 'x' }));
    before.storage.update('things', 'default/a', 2, { ...thing('a'), big: 9223372036854775807n } as never);
    put(before.storage, 'c', '');
    before.storage.remove('things', 'default/c', 5, thing('c'));
    using after = open();
    expect(after.storage.revision).toBe(6);
    expect(content(after.storage)).toEqual(content(before.storage));
    expect(after.storage.get('roles', '/a name\twith "anything"')).toMatchObject({
      uid: 'uid of b',
      labels: { l: 'x' },
    });
    put(after.storage, 'd', '');
    expect(after.storage.revision).toBe(7);
  });

  it('creates files that only their owner can read, because they contain Secrets', () => {
    chmodSync(folder, 0o755);
    using kept = open();
    put(kept.storage, 'a', '1');
    const modes = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path).mode);
    expect(modes.map((mode) => mode & 0o077)).toEqual(modes.map(() => 0));
  });

  it('starts with an empty store in an empty folder', () => {
    using first = open();
    expect(first.restored).toBeUndefined();
    using second = open();
    expect([second.restored, second.storage.revision]).toEqual([undefined, 1]);
  });

  it('keeps the folder within four times the size of the live objects, however often they change', () => {
    using before = open();
    let most = 0;
    for (let index = 0; index < 20_000; index++) {
      put(before.storage, `thing-${index % 100}`, `${index}`.padEnd(200, 'x'));
      if (index > 1_000 && index % 97 === 0) most = Math.max(most, sizeOfFolder());
    }
    const alive = content(before.storage).reduce((sum, { json }) => sum + json.length, 0);
    expect(most / alive).toBeLessThan(4);
    using after = open();
    expect(after.storage.revision).toBe(20_001);
    expect(content(after.storage)).toEqual(content(before.storage));
  });

  it('restores after a crash at any point, also between a log and its snapshot', () => {
    let seen = { parts: 0, logs: 0 };
    using before = open();
    for (let index = 0; index < 40; index++) put(before.storage, `large-${index}`, 'x'.repeat(8_000));
    for (let index = 0; index < 300; index++) {
      put(before.storage, `large-${index % 40}`, `${index}`.padEnd(8_000, 'y'));
      const names = readdirSync(folder);
      seen = {
        parts: seen.parts + names.filter((name) => name.endsWith('.part')).length,
        logs: Math.max(seen.logs, names.filter((name) => name.startsWith('log')).length),
      };
      if (index % 7 !== 0) continue;
      using after = open();
      expect(after.storage.revision).toBe(before.storage.revision);
      expect(content(after.storage)).toEqual(content(before.storage));
    }
    expect(seen).toEqual({ parts: expect.any(Number), logs: 2 });
    expect(seen.parts).toBeGreaterThan(0);
  });

  it('continues after an incomplete last line', () => {
    using before = open();
    put(before.storage, 'a', '1');
    before.close();
    const log = join(folder, 'log-00000001');
    const whole = readFileSync(log);
    const line = writeRecord({
      type: 'put',
      revision: 3,
      collection: 'things',
      key: 'default/b',
      json: '{"metadata":{}}',
    });
    for (const length of [1, 9, 30, line.length - 1]) {
      writeFileSync(log, Buffer.concat([whole, line.subarray(0, length)]));
      using after = open();
      expect([after.storage.revision, content(after.storage).length]).toEqual([2, 1]);
      put(after.storage, 'c', '1');
      after.close();
      using again = open();
      expect([again.storage.revision, content(again.storage).length]).toEqual([3, 2]);
    }
  });

  it.each<[string, string, () => void]>([
    [
      'a byte changed',
      'line 2 is corrupted',
      () => {
        const log = join(folder, 'log-00000001');
        const bytes = readFileSync(log);
        bytes[bytes.indexOf('uid')] = 0x55;
        writeFileSync(log, bytes);
      },
    ],
    [
      'an older line follows a newer one',
      'line 4 is corrupted',
      () =>
        appendFileSync(
          join(folder, 'log-00000001'),
          writeRecord({ type: 'remove', revision: 2, collection: 'things', key: 'default/a' }),
        ),
    ],
    ['a log is missing', 'the file is missing', () => writeFileSync(join(folder, 'log-00000003'), '')],
    [
      'a snapshot has no end',
      'the end record is missing',
      () => {
        const begin = writeRecord({ type: 'begin', version: FORMAT_VERSION, revision: 2 });
        writeFileSync(join(folder, 'snapshot-00000001'), begin);
      },
    ],
  ])('refuses a folder in which %s', (_what, how, damage) => {
    using before = open();
    put(before.storage, 'a', '1');
    put(before.storage, 'b', '1');
    before.close();
    damage();
    expect(() => openJournal(folder)).toThrow(
      expect.objectContaining({ code: 'BOWLINE_JOURNAL_DAMAGED', message: expect.stringContaining(how) }),
    );
  });

  it('refuses files of a later format version', () => {
    const begin = writeRecord({ type: 'begin', version: FORMAT_VERSION + 1, revision: 0 });
    writeFileSync(join(folder, 'log-00000001'), begin);
    expect(() => openJournal(folder)).toThrow(expect.objectContaining({ code: 'BOWLINE_JOURNAL_FORMAT' }));
  });

  it('does not apply a change that cannot be written', () => {
    using opened = open();
    put(opened.storage, 'a', '1');
    opened.close();
    expect(() => put(opened.storage, 'a', '2')).toThrow(expect.objectContaining({ code: 'BOWLINE_JOURNAL_WRITE' }));
    expect(opened.storage.revision).toBe(2);
    using after = open();
    expect(content(after.storage)).toEqual(content(opened.storage));
  });
});
