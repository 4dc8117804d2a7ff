import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionFrom, parseKubeconfig } from '@bowline/runtime/client';
import { describe, expect, it } from 'vitest';
import { kubeconfigDocument, writeKubeconfig } from './kubeconfig.ts';

const pem = (name: string): string => `-----BEGIN ${name}-----\nAAAA\n-----END ${name}-----\n`;
const parts = { server: 'https://127.0.0.1:6443', authorityPem: pem('AUTHORITY'), user: 'ann' };

describe('kubeconfigDocument', () => {
  it('embeds a client certificate that the runtime can read', async () => {
    const document = kubeconfigDocument({
      ...parts,
      credentials: { certificatePem: pem('CERTIFICATE'), keyPem: pem('KEY') },
    });
    const connection = connectionFrom(await parseKubeconfig(JSON.stringify(document), 'test'));
    expect(connection.server).toBe(parts.server);
    const ca = typeof connection.ca === 'function' ? await connection.ca() : connection.ca;
    expect(ca).toBe(pem('AUTHORITY'));
    expect(await connection.credentials?.certificate?.()).toEqual({
      certificatePem: pem('CERTIFICATE'),
      keyPem: pem('KEY'),
    });
  });

  it('contains a token and a namespace', async () => {
    const document = kubeconfigDocument({ ...parts, credentials: { token: 'abc' }, namespace: 'there' });
    const connection = connectionFrom(await parseKubeconfig(JSON.stringify(document), 'test'));
    expect(await connection.credentials?.headers()).toEqual({ authorization: 'Bearer abc' });
    expect(connection.namespace).toBe('there');
  });
});

describe('writeKubeconfig', () => {
  it('replaces a file atomically, readable only by its owner', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
    try {
      const path = join(folder, 'deep', 'kubeconfig');
      const document = kubeconfigDocument({ ...parts, credentials: { token: 'abc' } });
      await writeKubeconfig(path, document);
      await writeFile(path, 'old', { mode: 0o644 });
      await writeKubeconfig(path, document);
      expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(document);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      expect(await readdir(join(folder, 'deep'))).toEqual(['kubeconfig']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
