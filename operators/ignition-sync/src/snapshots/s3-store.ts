import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, systemClock } from '@bowline/machinery';
import { codeOf, type HttpAnswer, readText, send } from '../http/send.ts';
import { EMPTY_HASH, encodeKey, type S3Credentials, signRequest } from './sign-request.ts';
import type { SnapshotStore, StoredArchive } from './snapshot-store.ts';

/** S3StoreOptions configures a bucket. */
export interface S3StoreOptions {
  readonly bucket: string;
  /** The prefix of all keys of this gateway. */
  readonly prefix: string;
  /** Defaults to that of AWS in the region. */
  readonly endpoint?: string | undefined;
  /** Defaults to us-east-1. */
  readonly region?: string | undefined;
  /** The folder with the files `access-key-id` and `secret-access-key`, which are read for every request. */
  readonly credentialsFolder: string | undefined;
  /** Defaults to the system clock. */
  readonly clock?: Clock | undefined;
}

const TIMEOUT_MS = 30_000;
/** Large archives over a slow connection. */
const TRANSFER_TIMEOUT_MS = 30 * 60_000;
const MAX_INDEX_BYTES = 1024 * 1024;

interface S3Request {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly name: string;
  readonly body?: { readonly content: string | Readable; readonly size: number; readonly hash: string } | undefined;
  readonly timeoutMs?: number | undefined;
}

/** S3Store keeps snapshots in a bucket of S3, or of a service with the same API, with addresses in path style. */
export class S3Store implements SnapshotStore {
  readonly #options: S3StoreOptions;
  readonly #clock: Clock;
  readonly #region: string;

  constructor(options: S3StoreOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#region = options.region ?? 'us-east-1';
  }

  async readIndex(signal: AbortSignal): Promise<string | undefined> {
    return await this.#send({ method: 'GET', name: 'index.json' }, signal, async (answer) => {
      if (answer.status === 404) return undefined;
      this.#check(answer, 'read the index');
      return await readText(answer, MAX_INDEX_BYTES);
    });
  }

  async writeIndex(text: string, signal: AbortSignal): Promise<void> {
    const hash = createHash('sha256').update(text).digest('hex');
    const body = { content: text, size: Buffer.byteLength(text), hash };
    await this.#send({ method: 'PUT', name: 'index.json', body }, signal, async (answer) =>
      this.#check(answer, 'write the index'),
    );
  }

  async put(name: string, { path, size, checksum: hash }: StoredArchive, signal: AbortSignal): Promise<void> {
    const body = { content: createReadStream(path), size, hash };
    await this.#send({ method: 'PUT', name, body, timeoutMs: TRANSFER_TIMEOUT_MS }, signal, async (answer) =>
      this.#check(answer, 'store the snapshot'),
    );
  }

  async get(name: string, target: string, signal: AbortSignal): Promise<string> {
    await this.#send({ method: 'GET', name, timeoutMs: TRANSFER_TIMEOUT_MS }, signal, async (answer) => {
      this.#check(answer, 'read the snapshot');
      await pipeline(answer.body, createWriteStream(target, { mode: 0o600 }));
    });
    return target;
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#send({ method: 'DELETE', name }, signal, async (answer) => {
      if (answer.status !== 404) this.#check(answer, 'delete a snapshot');
    });
  }

  #check({ status }: Pick<HttpAnswer, 'status'>, action: string): void {
    if (status >= 200 && status < 300) return;
    const remedy =
      status === 403 || status === 401
        ? 'check the credentials and the permissions for the bucket'
        : 'check snapshots.storage.s3';
    throw new Error(`cannot ${action} in the bucket ${this.#options.bucket}: HTTP status ${status}; ${remedy}`);
  }

  async #send<T>(request: S3Request, signal: AbortSignal, read: (answer: HttpAnswer) => Promise<T>): Promise<T> {
    const { method, name, body, timeoutMs = TIMEOUT_MS } = request;
    const { bucket, prefix, endpoint = `https://s3.${this.#region}.amazonaws.com` } = this.#options;
    const url = new URL(
      `${endpoint.replace(/\/+$/, '')}/${encodeKey([bucket, prefix, name].filter(Boolean).join('/'))}`,
    );
    const bodyHash = body?.hash ?? EMPTY_HASH;
    const nowMs = this.#clock.now();
    const credentials = await this.#credentials();
    const signed = signRequest({ method, url, bodyHash, region: this.#region, nowMs }, credentials);
    const headers = { ...signed, ...(body === undefined ? {} : { 'content-length': String(body.size) }) };
    try {
      return await send({ url, method, headers, body: body?.content, timeoutMs }, read, { signal, wire: systemClock });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Error && !('code' in error)) throw error;
      throw new Error(
        `cannot reach the bucket ${bucket} at ${url.host} (${codeOf(error)}); check snapshots.storage.s3`,
      );
    } finally {
      if (body?.content instanceof Readable) body.content.destroy();
    }
  }

  /** Errors name the file, never its content. */
  async #credentials(): Promise<S3Credentials> {
    const { credentialsFolder: folder } = this.#options;
    const read = async (name: string): Promise<string> => {
      if (folder === undefined)
        throw new Error('the agent has no credentials for S3; recreate the pod, so that the Secret is mounted into it');
      const text = await readFile(join(folder, name), 'utf8').catch(() => '');
      if (text.trim() !== '') return text.trim();
      throw new Error(`the Secret of snapshots.storage.s3.credentialsSecretRef has no key ${name}; add it`);
    };
    return { accessKeyId: await read('access-key-id'), secretAccessKey: await read('secret-access-key') };
  }
}
