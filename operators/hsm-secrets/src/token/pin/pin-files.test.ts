import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PinAttempts } from './pin-attempts.ts';
import { pinAttemptsFile } from './pin-attempts-file.ts';
import { mountedPin } from './pin-source.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bowline-pin-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the record of tried PINs', () => {
  const RECORD: PinAttempts = { salt: 'ab', attempts: [{ hash: 'cd', outcome: 'refused' }] };

  it('is kept in a file that only its owner can read', () => {
    expect(pinAttemptsFile(folder).read()).toBeUndefined();
    pinAttemptsFile(folder).write({ salt: 'ab', attempts: [] });
    pinAttemptsFile(folder).write(RECORD);
    expect(pinAttemptsFile(folder).read()).toEqual(RECORD);
    const [file, ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(statSync(join(folder, file ?? '')).mode & 0o777).toBe(0o600);
  });

  it.each(['', '{', 'null', '{"salt":1,"attempts":[]}', '{"salt":"a","attempts":[{"hash":"b","outcome":"other"}]}'])(
    'is unreadable if the file contains %j',
    (text) => {
      const store = pinAttemptsFile(folder);
      store.write(RECORD);
      const [file = ''] = readdirSync(folder);
      writeFileSync(join(folder, file), text);
      expect(store.read()).toBe('unreadable');
    },
  );

  it('reports a folder that does not exist', () => {
    expect(() => pinAttemptsFile(join(folder, 'none')).write(RECORD)).toThrow('ENOENT');
  });
});

describe('a mounted PIN', () => {
  it.each([
    ['1234', '1234'],
    ['1234\n', '1234'],
    ['1234\r\n', '1234'],
    [' 12 34 ', ' 12 34 '],
    ['\n', undefined],
    ['', undefined],
  ])('in the file %j is %j', (content, expected) => {
    writeFileSync(join(folder, 'pin'), content);
    const source = mountedPin(folder, 'pin');
    expect(source.current()?.toString()).toBe(expected);
    expect(source.next()).toBeUndefined();
  });

  it('has a next one beside it while it is changed', () => {
    writeFileSync(join(folder, 'pin.next'), '5678');
    const source = mountedPin(folder, 'pin');
    expect(source.current()).toBeUndefined();
    expect(source.next()?.toString()).toBe('5678');
  });

  it('is read anew each time, so that its copy can be cleared', () => {
    writeFileSync(join(folder, 'pin'), '1234');
    const source = mountedPin(folder, 'pin');
    source.current()?.fill(0);
    expect(source.current()?.toString()).toBe('1234');
    expect(readFileSync(join(folder, 'pin'), 'utf8')).toBe('1234');
  });
});
