import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { BowlineError, canonicalJson } from '@bowline/machinery';
import { type Read, s } from '@bowline/runtime/resource';
import { isAlwaysExcluded } from '../../engine/tree/excluded-paths.ts';
import { pathProblem } from '../../engine/tree/safe-path.ts';
import { decodeJson } from '../../protocol/decode-json.ts';
import { SCHEMA } from '../../protocol/metadata.ts';

/** MAX_PART_BYTES is the maximum size of a part: one fits into a ConfigMap. */
export const MAX_PART_BYTES = 700 * 1024;
/** MAX_COMPRESSED_BYTES is the maximum size of a file in a part, after compression. */
export const MAX_COMPRESSED_BYTES = 600 * 1024;
const MAX_PARTS = 1_000;
const MAX_FILES = 10_000;

const changedFile = s.object({
  /** The path in the repository. */
  path: s.string().minLength(1).maxLength(4096),
  action: s.enum(['added', 'modified', 'deleted']),
  isExecutable: s.boolean().optional(),
  /** Compressed with gzip, in base64. Absent for a deleted file. */
  content: s.string().maxLength(MAX_PART_BYTES).optional(),
  /** The SHA-256 of the content, in hex. */
  checksum: s.string().maxLength(64).optional(),
});

const changePart = s.object({
  schema: s.enum([SCHEMA]),
  /** The name of the gateway. */
  gateway: s.string().minLength(1).maxLength(512),
  /** Identifies the changes: the same for all parts, and for the same changes sent again. */
  id: s.string().minLength(1).maxLength(64),
  part: s.integer().min(1).max(MAX_PARTS),
  parts: s.integer().min(1).max(MAX_PARTS),
  /** When the last of the files changed: RFC 3339, in UTC. */
  timestamp: s.string().minLength(1).maxLength(40),
  /** The commit that the gateway had when the files changed. */
  commit: s.string().minLength(40).maxLength(64),
  files: s.array(changedFile).maxItems(MAX_FILES),
});

/** ChangePart is a part of the changes of one gateway, as its key of the changes ConfigMap contains it. */
export type ChangePart = Read<typeof changePart>;

/** ChangedFile is a file of a part. */
export type ChangedFile = ChangePart['files'][number];

/** GatewayChange is a file that was changed on a gateway, with its content in the repository. */
export interface GatewayChange {
  /** The path in the repository. */
  readonly path: string;
  readonly action: ChangedFile['action'];
  readonly isExecutable: boolean;
  /** Undefined for a deleted file. */
  readonly content: Buffer | undefined;
}

/** ChangesOf describes the changes of one gateway. */
export interface ChangesOf extends Pick<ChangePart, 'gateway' | 'timestamp' | 'commit'> {
  readonly changes: readonly GatewayChange[];
}

/** ChangeRefused reports a part that must not be pushed. Its message contains no content. */
export class ChangeRefused extends BowlineError {
  constructor(problem: string) {
    super('BOWLINE_IGNITION_CHANGES', problem);
  }
}

/** compressedSize returns the size that a file has in a part. */
export function compressedSize(content: Buffer): number {
  return gzipSync(content).length;
}

/**
 * encodeChanges returns the parts in which changes are sent, each as the text of a key of the ConfigMap. Equal changes have equal
 * parts. A file is never split, so it must have at most MAX_COMPRESSED_BYTES after compression.
 */
export function encodeChanges({ gateway, timestamp, commit, changes }: ChangesOf): readonly string[] {
  const files = changes.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(encodeFile);
  const id = createHash('sha256').update(canonicalJson({ gateway, commit, files })).digest('hex').slice(0, 32);
  const groups: ChangedFile[][] = [[]];
  let size = 0;
  for (const file of files) {
    const added = Buffer.byteLength(canonicalJson(file)) + 1;
    if (size + added > MAX_PART_BYTES - 4_096 && size > 0) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)?.push(file);
    size += added;
  }
  const parts = groups.length;
  return groups.map((group, index) =>
    canonicalJson({ schema: SCHEMA, gateway, id, part: index + 1, parts, timestamp, commit, files: group }),
  );
}

/** decodeChanges reads a key of the changes ConfigMap. It throws ProtocolError or ChangeRefused. */
export function decodeChanges(key: string, text: string): ChangePart {
  if (Buffer.byteLength(text) > MAX_PART_BYTES) throw new ChangeRefused(`${key}: the part is too large`);
  const part = decodeJson(key, text, changePart);
  for (const { path } of part.files) checkRepositoryPath(path);
  return part;
}

/** contentOf returns the content of a file of a part. It throws ChangeRefused if the content is damaged or too large. */
export function contentOf({ path, action, content, checksum }: ChangedFile, maxBytes: number): Buffer | undefined {
  if (action === 'deleted') return undefined;
  let bytes: Buffer;
  try {
    bytes = gunzipSync(Buffer.from(content ?? '', 'base64'), { maxOutputLength: Math.max(1, maxBytes) });
  } catch {
    throw new ChangeRefused(`${path}: the content is damaged, or larger than ${maxBytes} bytes`);
  }
  if (checksumOf(bytes) !== checksum) throw new ChangeRefused(`${path}: the content does not have its checksum`);
  return bytes;
}

function encodeFile({ path, action, isExecutable, content }: GatewayChange): ChangedFile {
  if (content === undefined) return { path, action };
  const compressed = gzipSync(content).toString('base64');
  return {
    path,
    action,
    ...(isExecutable ? { isExecutable } : {}),
    content: compressed,
    checksum: checksumOf(content),
  };
}

function checksumOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Anyone who may write the ConfigMap chooses the paths. Files of a forge could run with its secrets before a review. */
function checkRepositoryPath(path: string): void {
  const isReserved = path.split('/').some((segment) => segment.normalize('NFKC').toLowerCase().startsWith('.git'));
  const problem = pathProblem(path) ?? (isReserved || isAlwaysExcluded(path) ? 'the path is reserved' : undefined);
  if (problem !== undefined) throw new ChangeRefused(`${printable(path)}: ${problem}`);
}

function printable(path: string): string {
  return path.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}
