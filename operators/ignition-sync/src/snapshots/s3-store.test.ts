import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type S3Server, startS3Server } from './s3-server.test-support.ts';
import { S3Store } from './s3-store.ts';

const { signal } = new AbortController();
const CONTENT = Buffer.alloc(300_000, 'snapshot');

let folder: string;
let server: S3Server;
let store: S3Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bowline-s3-'));
  server = await startS3Server('plant', 'AKIATEST');
  await writeFile(join(folder, 'access-key-id'), 'AKIATEST\n');
  await writeFile(join(folder, 'secret-access-key'), 'canary-secret\n');
  store = new S3Store({ bucket: 'plant', prefix: 'a b/site', endpoint: server.url, credentialsFolder: folder });
});

afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function put(name: string): Promise<void> {
  const path = join(folder, 'archive');
  await writeFile(path, CONTENT);
  const checksum = createHash('sha256').update(CONTENT).digest('hex');
  await store.put(name, { path, size: CONTENT.length, checksum }, signal);
}

describe('snapshots in S3', () => {
  it('are stored, read and deleted below their prefix', async () => {
    await put('one.tar.gz');
    expect([...server.objects.keys()]).toEqual(['/plant/a b/site/one.tar.gz']);
    const target = await store.get('one.tar.gz', join(folder, 'target'), signal);
    expect((await readFile(target)).equals(CONTENT)).toBe(true);
    await store.remove('one.tar.gz', signal);
    await store.remove('one.tar.gz', signal);
    expect(server.objects.size).toBe(0);
  });

  it('have an index, which does not exist at first', async () => {
    expect(await store.readIndex(signal)).toBeUndefined();
    await store.writeIndex('{}', signal);
    expect(await store.readIndex(signal)).toBe('{}');
  });

  it('are signed with credentials that are read for every request', async () => {
    await writeFile(join(folder, 'access-key-id'), 'AKIAOTHER');
    await expect(put('one.tar.gz')).rejects.toThrow('HTTP status 403; check the credentials');
    await writeFile(join(folder, 'access-key-id'), 'AKIATEST');
    await put('one.tar.gz');
    await rm(join(folder, 'secret-access-key'));
    await expect(put('two.tar.gz')).rejects.toThrow('has no key secret-access-key; add it');
  });

  it.each([500, 301, 404])(
    'are not stored if the bucket responds with %s, and the error has no secret',
    async (status) => {
      server.fault = status;
      const error = (await put('one.tar.gz').catch((caught: unknown) => caught)) as Error;
      expect(error.message).toContain(`cannot store the snapshot in the bucket plant: HTTP status ${status}`);
      expect(`${error.message} ${error.stack}`).not.toContain('canary');
    },
  );

  it('are not stored if the endpoint cannot be reached', async () => {
    const gone = new S3Store({
      bucket: 'plant',
      prefix: '',
      endpoint: 'http://127.0.0.1:1',
      credentialsFolder: folder,
    });
    await expect(gone.writeIndex('{}', signal)).rejects.toThrow(
      'cannot reach the bucket plant at 127.0.0.1:1 (ECONNREFUSED)',
    );
    const mounted = new S3Store({ bucket: 'plant', prefix: '', endpoint: server.url, credentialsFolder: undefined });
    await expect(mounted.readIndex(signal)).rejects.toThrow('recreate the pod');
  });
});
