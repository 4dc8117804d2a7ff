import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ensureMoto } from '../../../../test/support/moto/ensure-moto.ts';
import { startMoto } from '../../../../test/support/moto/start-moto.ts';
import { S3Store } from './s3-store.ts';

const installed = await ensureMoto();
const { signal } = new AbortController();

it.skipIf('skippedBecause' in installed)(
  `keeps snapshots in S3 of moto, which checks signatures and policies${'skippedBecause' in installed ? `: ${installed.skippedBecause}` : ''}`,
  async () => {
    if ('skippedBecause' in installed) return;
    await using moto = await startMoto(installed);
    const folder = await mkdtemp(join(tmpdir(), 'bowline-moto-'));
    const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: 's3:*', Resource: '*' }] };
    const { accessKeyId, secretAccessKey } = await moto.createUser('agent', policy);
    const created = await fetch(`${moto.url}/plant`, { method: 'PUT' });
    expect(created.status).toBe(200);
    await moto.checkIam(true);
    await writeFile(join(folder, 'access-key-id'), accessKeyId);
    await writeFile(join(folder, 'secret-access-key'), secretAccessKey);
    const store = new S3Store({
      bucket: 'plant',
      prefix: 'shop/plant/site',
      endpoint: moto.url,
      credentialsFolder: folder,
    });
    try {
      expect(await store.readIndex(signal)).toBeUndefined();
      await store.writeIndex('{"schema": 1}', signal);
      expect(await store.readIndex(signal)).toBe('{"schema": 1}');
      await store.remove('index.json', signal);
      expect(await store.readIndex(signal)).toBeUndefined();
      await writeFile(join(folder, 'secret-access-key'), 'wrong');
      await expect(store.writeIndex('{}', signal)).rejects.toThrow('HTTP status 403');
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
