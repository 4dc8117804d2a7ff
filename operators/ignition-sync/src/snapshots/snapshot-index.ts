import { isObject } from '@bowline/machinery';

/** SnapshotRecord describes one stored snapshot: the files before a sync. */
export interface SnapshotRecord {
  readonly id: string;
  /** RFC 3339. */
  readonly timestamp: string;
  /** The size of the archive in bytes. */
  readonly size: number;
  /** The SHA-256 of the archive, in hex. */
  readonly checksum: string;
  /** The commit and ref before the sync. Undefined if it was the first one. */
  readonly fromCommit?: string | undefined;
  readonly fromRef?: string | undefined;
  /** The commit that the sync brought. */
  readonly toCommit: string;
  /** What else decided about the files that the sync brought. */
  readonly toSettings: string;
}

const SCHEMA = 1;
/** More than 50 records need. */
const MAX_INDEX_BYTES = 256 * 1024;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/;

/** formatIndex returns the text of an index, the oldest snapshot first. */
export function formatIndex(snapshots: readonly SnapshotRecord[]): string {
  return `${JSON.stringify({ schema: SCHEMA, snapshots }, undefined, 1)}\n`;
}

/** parseIndex returns the snapshots of an index, or undefined if any part is damaged. */
export function parseIndex(text: string): readonly SnapshotRecord[] | undefined {
  if (text.length > MAX_INDEX_BYTES) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value.schema !== SCHEMA || !Array.isArray(value.snapshots)) return undefined;
    return value.snapshots.every(isRecord) ? value.snapshots : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is SnapshotRecord {
  if (!isObject(value)) return false;
  const { id, timestamp, size, checksum, fromCommit, fromRef, toCommit, toSettings } = value;
  return (
    typeof id === 'string' &&
    ID.test(id) &&
    typeof size === 'number' &&
    typeof checksum === 'string' &&
    /^[0-9a-f]{64}$/.test(checksum) &&
    [timestamp, toCommit, toSettings].every((each) => typeof each === 'string') &&
    [fromCommit, fromRef].every((each) => each === undefined || typeof each === 'string')
  );
}

/** snapshotId returns the name of a snapshot of a gateway at a time, which no other snapshot has. */
export function snapshotId(gateway: string, nowMs: number, taken: ReadonlySet<string>): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split('T');
  const name = gateway.replace(/^[^A-Za-z0-9]/, 'x').slice(0, 220);
  const base = `${name}-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  return id;
}
