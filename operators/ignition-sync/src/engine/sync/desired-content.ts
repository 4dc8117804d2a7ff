import { createHash, type Hash } from 'node:crypto';
import { SyncError } from '../sync-error.ts';
import { JsonScanError, JsonScanner } from '../transforms/json-scanner.ts';
import { hashResourceJson, isResourceJson, MAX_RESOURCE_JSON_BYTES } from '../transforms/resource-json.ts';
import { applyTransforms, MAX_TRANSFORM_BYTES, syntaxError } from '../transforms/transform.ts';
import { blobHash, hashAlgorithm } from '../tree/blob-id.ts';
import { checkFileSize, type TreeLimits } from '../tree/check-limits.ts';
import type { DesiredFile } from '../tree/tree-entry.ts';
import type { BlobSource, LfsObject, LfsSource } from './blob-source.ts';
import { MAX_POINTER_BYTES, parsePointer } from './lfs-pointer.ts';

/** ContentOptions configures where content comes from. */
export interface ContentOptions {
  readonly blobs: BlobSource;
  /** The sizes of the prepared blobs. */
  readonly sizes: ReadonlyMap<string, number>;
  /** Defaults to none: a pointer file is refused. */
  readonly lfs?: LfsSource | undefined;
  readonly limits?: TreeLimits | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** ContentFacts describes content that was read completely. */
export interface ContentFacts {
  readonly size: number;
  /** The id of the content as a blob. */
  readonly content: string;
  /** The hash of a `resource.json` without what a gateway rewrites. */
  readonly resource?: string | undefined;
  readonly fields: readonly number[];
}

/** ContentSink receives the content of a file, chunk by chunk. */
export type ContentSink = (chunk: Uint8Array) => Promise<void> | void;

/**
 * readContent reads the content that a file should have: from its blob or from large file storage, after its transforms. It
 * throws if the content is not what its hash promises, or must not be placed. Without transforms its memory does not depend on
 * the size of the file.
 */
export async function readContent(
  file: DesiredFile,
  options: ContentOptions,
  sink: ContentSink,
): Promise<ContentFacts> {
  if (file.content !== undefined) return await readBytes(file, Buffer.from(file.content), sink, []);
  const size = options.sizes.get(file.blob);
  if (size === undefined) throw damaged(file, 'the size of the blob is unknown');
  checkFileSize(file.path, size, options.limits);
  const chunks = await withoutPointers(file, size, options);
  if (file.transforms.length > 0) {
    const whole = await collect(file, chunks, options);
    const { bytes, fields } = applyTransforms(whole, file.transforms, file.path);
    return await readBytes(file, bytes, sink, fields);
  }
  return await readStream(file, chunks, sink);
}

/** A stream whose size is known and whose content is verified at its end. */
interface Chunks extends AsyncIterable<Uint8Array> {
  readonly size: number;
  /** The id of the content as a blob, if it is known. */
  readonly blob?: string;
}

async function readBytes(
  file: DesiredFile,
  bytes: Buffer,
  sink: ContentSink,
  fields: readonly number[],
): Promise<ContentFacts> {
  return { ...(await readStream(file, oneChunk(bytes), sink)), fields };
}

async function readStream(file: DesiredFile, chunks: Chunks, sink: ContentSink): Promise<ContentFacts> {
  const { path, blob } = file;
  const { size } = chunks;
  const hash = chunks.blob === undefined ? blobHash(size, hashAlgorithm(blob)) : undefined;
  const scanner = isCheckedJson(path) ? new JsonScanner() : undefined;
  const kept: Uint8Array[] | undefined = isResourceJson(path) && size <= MAX_RESOURCE_JSON_BYTES ? [] : undefined;
  try {
    for await (const chunk of chunks) {
      hash?.update(chunk);
      scanner?.push(chunk);
      kept?.push(chunk);
      await sink(chunk);
    }
    scanner?.end();
  } catch (error) {
    if (error instanceof JsonScanError) throw syntaxError(path, error);
    throw error;
  }
  const resource = kept === undefined ? undefined : hashResourceJson(Buffer.concat(kept));
  return { size, content: hash?.digest('hex') ?? blob, resource, fields: [] };
}

/** A gateway reads these, and refuses to load what is not JSON. */
function isCheckedJson(path: string): boolean {
  return path.endsWith('.json') && (path.startsWith('projects/') || path.startsWith('config/'));
}

/** Replaces a pointer file with the content that it stands for, or refuses it. */
async function withoutPointers(file: DesiredFile, size: number, options: ContentOptions): Promise<Chunks> {
  const { blobs, lfs, limits, signal } = options;
  const content = verified(
    blobs.open(file.blob, signal),
    size,
    blobHash(size, hashAlgorithm(file.blob)),
    file.blob,
    file,
  );
  if (size > MAX_POINTER_BYTES) return Object.assign(content, { size, blob: file.blob });
  const whole = await collect(file, Object.assign(content, { size }), options);
  const pointer = parsePointer(whole);
  if (pointer === undefined) return oneChunk(whole, file.blob);
  if (lfs === undefined) throw pointerRefused(file);
  checkFileSize(file.path, pointer.size, limits);
  return openObject(file, pointer, lfs, signal);
}

function openObject(file: DesiredFile, object: LfsObject, lfs: LfsSource, signal: AbortSignal | undefined): Chunks {
  const stream = verified(lfs.open(object, signal), object.size, createHash('sha256'), object.oid, file);
  return Object.assign(stream, { size: object.size });
}

function oneChunk(content: Buffer, blob?: string): Chunks {
  const chunks = (async function* () {
    yield content;
  })();
  return Object.assign(chunks, { size: content.length, ...(blob === undefined ? {} : { blob }) });
}

/** Passes a stream on, and throws at its end if its content is not the expected one. */
async function* verified(
  stream: AsyncIterable<Uint8Array>,
  size: number,
  hash: Hash,
  expected: string,
  file: DesiredFile,
): AsyncGenerator<Uint8Array> {
  let total = 0;
  for await (const chunk of stream) {
    total += chunk.length;
    if (total > size) throw damaged(file, `the content is longer than ${size} bytes`);
    hash.update(chunk);
    yield chunk;
  }
  if (total !== size || hash.digest('hex') !== expected)
    throw damaged(file, 'the content does not have the hash of the blob');
}

async function collect(file: DesiredFile, chunks: Chunks, { limits }: ContentOptions): Promise<Buffer> {
  const max = Math.min(MAX_TRANSFORM_BYTES, limits?.maxFileBytes ?? MAX_TRANSFORM_BYTES);
  if (chunks.size > max) {
    throw new SyncError('FileTooLarge', {
      path: file.path,
      problem: `the file has ${chunks.size} bytes, and at most ${max} are allowed with transforms`,
      remedy: 'exclude it with excludePatterns, or map it without template and patches',
    });
  }
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

function pointerRefused({ path, source }: DesiredFile): SyncError {
  return new SyncError('LfsPointer', {
    path,
    problem: `${source} is a pointer of Git LFS, not the file itself`,
    remedy: 'set git.lfs, exclude it with excludePatterns, or store the file in Git',
  });
}

function damaged({ path, blob }: DesiredFile, problem: string): SyncError {
  return new SyncError('SourceDamaged', {
    path,
    problem: `${problem} (${blob})`,
    remedy: 'it is fetched again by the next sync',
  });
}
