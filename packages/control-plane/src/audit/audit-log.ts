import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BowlineError } from '@bowline/machinery';
import type { AuditEvent } from '../server/audit/audit-event.ts';

/** auditFolder returns the folder of an API server's audit log, below the control plane's folder. */
export function auditFolder(folder: string): string {
  return join(folder, 'audit');
}

/** auditLogName is the log's file name; the API server rotates full files to `audit-<time>.log`. */
export const auditLogName = 'audit.log';

/** fullAuditLogs returns the rotated files among the given names, oldest first: the names contain the time of rotation. */
export function fullAuditLogs(names: readonly string[]): string[] {
  return names.filter((name) => /^audit-.*\.log$/.test(name)).sort();
}

/**
 * auditPolicy records who did what to which object, without bodies. The components' own reads are omitted: they are most of the
 * traffic and no test needs them.
 */
export const auditPolicy: object = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    { level: 'None', nonResourceURLs: ['/readyz*', '/livez*', '/healthz*'] },
    {
      level: 'None',
      users: ['system:apiserver', 'system:kube-controller-manager', 'system:kube-scheduler'],
      verbs: ['get', 'list', 'watch'],
    },
    {
      level: 'None',
      userGroups: ['system:serviceaccounts:kube-system'],
      verbs: ['get', 'list', 'watch'],
    },
    { level: 'Metadata' },
  ],
};

/** Every event starts with this, which is used to find one after an incomplete line. */
const EVENT_START = '{"kind":"Event"';
const TIMESTAMP = '"stageTimestamp":"';
/** How often the log is read again because a file was rotated meanwhile: it takes thousands of requests to fill one. */
const MAX_READS = 5;

/**
 * readAuditLog returns the events in a folder's audit log, including rotated files, whose stage was reached at or after `since`.
 * The log may be written to meanwhile: a last line without a line end is not yet an event.
 */
export async function readAuditLog(folder: string, since = 0): Promise<readonly AuditEvent[]> {
  for (let read = 1; ; read++) {
    const full = fullAuditLogs(await readdir(folder));
    const events: AuditEvent[] = [];
    for (const name of [...full, auditLogName]) {
      const path = join(folder, name);
      for await (const line of completeLines(path)) {
        const event = parseLine(line, since, path);
        if (event) events.push(event);
      }
    }
    // A file that was rotated meanwhile may have been read under neither name.
    if (read === MAX_READS || fullAuditLogs(await readdir(folder)).at(-1) === full.at(-1)) return events;
  }
}

/** completeLines yields the lines that end in a newline. A missing file has none. */
async function* completeLines(path: string): AsyncGenerator<string> {
  let rest = '';
  const stream = createReadStream(path, { encoding: 'utf8', highWaterMark: 1 << 18 });
  try {
    for await (const chunk of stream as AsyncIterable<string>) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
}

/** parseLine parses one line; undefined if it is older than `since`. Old lines are skipped without parsing. */
function parseLine(line: string, since: number, path: string): AuditEvent | undefined {
  const at = line.lastIndexOf(TIMESTAMP);
  if (at < 0) throw unreadable(path);
  const begin = at + TIMESTAMP.length;
  const time = Date.parse(line.slice(begin, line.indexOf('"', begin)));
  if (time < since) return undefined;
  // A server that was killed during a write leaves part of a line, and the next one continues after it.
  for (const start of [0, line.lastIndexOf(EVENT_START)]) {
    try {
      // The server's own format; the code depends only on the fields above.
      return JSON.parse(line.slice(start)) as AuditEvent;
    } catch {
      // Retry from the last start of an event.
    }
  }
  throw unreadable(path);
}

function unreadable(path: string): BowlineError {
  return new BowlineError(
    'BOWLINE_AUDIT_UNREADABLE',
    `a line in ${path} is not an audit event; check that nothing but the API server writes there`,
  );
}
