import { isObject } from '@bowline/machinery';
import { isManagedPath } from '../engine/state/manifest.ts';

/** SnapshotContent describes the content of an archive: what a sync was about to change. It is the first file of the archive. */
export interface SnapshotContent {
  readonly id: string;
  /** The paths that the sync added: they did not exist before. */
  readonly added: readonly string[];
  /** The paths that the sync replaced or deleted; their files are in the archive, in this order. */
  readonly files: readonly string[];
}

/** CONTENT_NAME is the path of the description in an archive, and FILES_PREFIX that of the files. */
export const CONTENT_NAME = 'snapshot.json';
/** FILES_PREFIX is the prefix of the paths of files in an archive. */
export const FILES_PREFIX = 'files/';

/** MAX_CONTENT_BYTES is the maximum size of the description: 50,000 long paths on each side fit. */
export const MAX_CONTENT_BYTES = 64 * 1024 * 1024;

const SCHEMA = 1;

/** formatContent returns the text of a description. */
export function formatContent(content: SnapshotContent): string {
  return `${JSON.stringify({ schema: SCHEMA, ...content })}\n`;
}

/** parseContent returns a description, or undefined if it is damaged or has a path that must not be written. */
export function parseContent(text: string): SnapshotContent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value) || value.schema !== SCHEMA || typeof value.id !== 'string') return undefined;
    const { id, added, files } = value;
    return isPaths(added) && isPaths(files) ? { id, added, files } : undefined;
  } catch {
    return undefined;
  }
}

function isPaths(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(isManagedPath);
}
