import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAuditLog } from './audit-log.ts';

let folder: string;
let log: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-log-'));
  log = join(folder, 'audit.log');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function line(id: string, second: number): string {
  const time = `2026-01-01T00:00:0${second}.000000Z`;
  return JSON.stringify({
    kind: 'Event',
    auditID: id,
    verb: 'get',
    requestReceivedTimestamp: time,
    stageTimestamp: time,
  });
}

const ids = async (since?: number): Promise<readonly string[]> =>
  (await readAuditLog(folder, since)).map((event) => event.auditID);

describe('readAuditLog', () => {
  it('is empty before the first request', async () => {
    expect(await ids()).toEqual([]);
  });

  it('waits for the end of a line that is still being written', async () => {
    const [whole, second] = [line('a', 1), line('b', 2)];
    await writeFile(log, `${whole}\n${second.slice(0, 40)}`);
    expect(await ids()).toEqual(['a']);
    await appendFile(log, `${second.slice(40)}\n`);
    expect(await ids()).toEqual(['a', 'b']);
  });

  it('continues after a line that a killed server left incomplete', async () => {
    await writeFile(log, `${line('a', 1).slice(0, 50)}${line('b', 2)}\n${line('c', 3)}\n`);
    expect(await ids()).toEqual(['b', 'c']);
  });

  it('returns events at or after a time', async () => {
    await writeFile(log, `${[line('a', 1), line('b', 2), line('c', 3)].join('\n')}\n`);
    expect(await ids(Date.parse('2026-01-01T00:00:02Z'))).toEqual(['b', 'c']);
  });

  it('reads the rotated files first', async () => {
    await writeFile(join(folder, 'audit-2026-01-01T00-00-02.000.log'), `${line('b', 2)}\n`);
    await writeFile(join(folder, 'audit-2026-01-01T00-00-01.000.log'), `${line('a', 1)}\n`);
    await writeFile(log, `${line('c', 3)}\n`);
    expect(await ids()).toEqual(['a', 'b', 'c']);
  });

  it('reports a line that is not an event instead of skipping it', async () => {
    await writeFile(log, 'something else\n');
    await expect(ids()).rejects.toMatchObject({ code: 'BOWLINE_AUDIT_UNREADABLE' });
  });
});
