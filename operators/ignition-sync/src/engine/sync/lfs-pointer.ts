import type { LfsObject } from './blob-source.ts';

/** MAX_POINTER_BYTES is the maximum size of a pointer file, by the specification of Git LFS. */
export const MAX_POINTER_BYTES = 1_024;

const VERSION = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\/v1\n/;
const OID = /^oid sha256:([0-9a-f]{64})$/m;
const SIZE = /^size (\d{1,15})$/m;

/** parsePointer returns the object that a pointer file of Git LFS stands for, or undefined for any other content. */
export function parsePointer(content: Buffer): LfsObject | undefined {
  if (content.length > MAX_POINTER_BYTES) return undefined;
  const text = content.toString('latin1');
  const [, oid] = OID.exec(text) ?? [];
  const [, size] = SIZE.exec(text) ?? [];
  return VERSION.test(text) && oid !== undefined && size !== undefined ? { oid, size: Number(size) } : undefined;
}
