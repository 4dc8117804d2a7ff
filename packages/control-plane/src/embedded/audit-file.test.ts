import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAuditLog } from '../audit/audit-log.ts';
import type { AuditEvent } from '../server/audit/audit-event.ts';
import { AuditFile } from './audit-file.ts';
import { AuditMemory } from './audit-memory.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'audit-file-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An event of about 300 bytes. */
function event(second: number): AuditEvent {
  const time = new Date(second * 1_000).toISOString();
  return {
    auditID: `id-${second}`,
    stage: 'ResponseComplete',
    level: 'Metadata',
    verb: 'get',
    requestURI: `/api/v1/namespaces/default/configmaps/${'a'.repeat(100)}`,
    user: { username: 'ann' },
    requestReceivedTimestamp: time,
    stageTimestamp: time,
  };
}

function write(file: { write(event: AuditEvent): void }, from: number, to: number): void {
  for (let second = from; second < to; second++) file.write(event(second));
}

const bounded = { maxBytes: 1_000, maxRotated: 2 };
const kept = async (): Promise<number[]> =>
  (await readAuditLog(folder)).map(({ stageTimestamp }) => Date.parse(stageTimestamp) / 1_000);
const bytes = (): number => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

describe('AuditFile', () => {
  it('keeps the latest events in order, up to its limit', async () => {
    using file = new AuditFile(folder, bounded);
    write(file, 0, 100);
    const seconds = await kept();
    expect(seconds.at(-1)).toBe(99);
    expect(seconds).toEqual(seconds.map((_, index) => 100 - seconds.length + index));
    expect(seconds.length).toBeGreaterThan(4);
    expect(bytes()).toBeLessThanOrEqual(3 * bounded.maxBytes);
  });

  it('counts the files of earlier runs', async () => {
    for (let run = 0; run < 10; run++) {
      using file = new AuditFile(folder, bounded);
      write(file, run * 10, run * 10 + 10);
    }
    expect((await kept()).at(-1)).toBe(99);
    expect(bytes()).toBeLessThanOrEqual(3 * bounded.maxBytes);
  });

  it('applies the limit of this run to files of an earlier one', () => {
    {
      using file = new AuditFile(folder, { ...bounded, maxRotated: 9 });
      write(file, 0, 60);
    }
    expect(readdirSync(folder)).toHaveLength(10);
    using _ = new AuditFile(folder, bounded);
    expect(readdirSync(folder)).toHaveLength(3);
  });

  it('continues in the same file when it cannot be rotated', async () => {
    using file = new AuditFile(folder, { ...bounded, maxBytes: 1 });
    file.write(event(0));
    const aside = join(folder, `audit-${event(1).stageTimestamp.replaceAll(':', '-')}-id-1.log`);
    mkdirSync(join(aside, 'in-the-way'), { recursive: true });
    expect(() => file.write(event(1))).toThrow(expect.objectContaining({ code: 'BOWLINE_AUDIT_WRITE' }));
    rmSync(aside, { recursive: true });
    write(file, 2, 4);
    expect(await kept()).toEqual([0, 2, 3]);
  });

  it('writes nothing after it is closed, not even into a file that reuses its descriptor', () => {
    const file = new AuditFile(folder, bounded);
    file[Symbol.dispose]();
    using other = new AuditFile(join(folder, 'other'), bounded);
    write(file, 0, 1);
    expect(statSync(join(folder, 'other', 'audit.log')).size).toBe(0);
    write(other, 0, 1);
    expect(statSync(join(folder, 'other', 'audit.log')).size).toBeGreaterThan(0);
  });
});

describe('AuditMemory', () => {
  it('keeps the latest events in order, up to its limit', () => {
    const memory = new AuditMemory(3_000);
    write(memory, 0, 100);
    const events = memory.since(0);
    expect(events.at(-1)).toEqual(event(99));
    expect(events.map(({ auditID }) => auditID)).toEqual(events.map((_, index) => `id-${100 - events.length + index}`));
    expect(JSON.stringify(events).length).toBeLessThan(3_000);
    expect(events.length).toBeGreaterThan(4);
    expect(memory.since(98_000)).toEqual([event(98), event(99)]);
  });
});
