import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connectClient, type KubeconfigDocument } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { ConfigMap, Deployment, Secret } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';
import { operators } from '../operators.ts';
import { bowline } from '../test-operators.test-support.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const main = fileURLToPath(new URL('../main.ts', import.meta.url));

function bowlineUp(...args: string[]) {
  const child = spawn(process.execPath, ['--conditions=@bowline/source', '--import', 'tsx', main, 'up', ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  return { child, lines, errors: () => errors, ended: once(child, 'close') };
}

describe('bowline up', () => {
  it('ends with 0 once every sample is ready, and says so in one line of JSON', async () => {
    const { kind } = await sharedControlPlane();
    const { lines, errors, ended } = bowlineUp('--control-plane', kind, '--exit-when-ready', '--json');
    const { value } = await lines.next();
    expect(JSON.parse(String(value))).toMatchObject({
      ready: true,
      controlPlane: { kind, url: expect.stringContaining('https://127.0.0.1:') },
      warnings: [expect.stringMatching(/^jasm: every pod may ask for every path/)],
      objects: [
        { kind: 'ConfigMapSync', key: 'sample-platform/registry-ca', isReady: true },
        { kind: 'Deployment', key: 'sample-shop/web', isReady: true, message: '1 of 1 pods run' },
        { kind: 'Secret', key: 'sample-shop/database', isReady: true },
      ],
    });
    expect([await ended, errors()]).toEqual([[0, null], '']);
  });

  it('lets others use what it runs until it is told to stop, and leaves nothing behind', async () => {
    const { kind } = await sharedControlPlane();
    const { child, lines, ended } = bowlineUp('--control-plane', kind);
    let kubeconfig = '';
    for (;;) {
      const { value = '' } = await lines.next();
      if (value.startsWith('kubeconfig ')) kubeconfig = value.slice('kubeconfig '.length);
      if (value.startsWith('stop')) break;
    }
    const document = JSON.parse(await readFile(kubeconfig, 'utf8')) as KubeconfigDocument;
    {
      await using client = await connectClient(document);
      const copy = await client.get(ConfigMap, { namespace: 'sample-team-red', name: 'registry-ca' });
      expect(Object.keys(copy.data ?? {})).toEqual(['ca.crt']);
    }
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    await expect(readFile(kubeconfig)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('shows a new value of the mock once a pod asks again, and what its operator says of the pod', async () => {
    const { kind } = await sharedControlPlane();
    const { child, lines, ended } = bowlineUp('--control-plane', kind, '--operators', 'jasm');
    let kubeconfig = '';
    const until = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const { value = '', done } = await lines.next();
        if (done) throw new Error(`ended before ${pattern}`);
        if (value.startsWith('kubeconfig ')) kubeconfig = value.slice('kubeconfig '.length);
        if (pattern.test(value)) return value;
      }
    };
    await until(/^caution +jasm: every pod may ask for every path/);
    const before = await until(/Secret sample-shop\/database +ready .* version /);
    const set = ['jasm', 'mock', 'set', '/shop/database', 'username=shop', 'password=another'];
    expect(await bowline([...set, '--kubeconfig', kubeconfig], { registry: operators })).toMatchObject({ code: 0 });
    {
      await using client = await connectClient(JSON.parse(await readFile(kubeconfig, 'utf8')) as KubeconfigDocument);
      const annotations = { 'example.dev/restarted': 'yes' };
      const body = { spec: { template: { metadata: { annotations } } } };
      await client.patch(Deployment, { namespace: 'sample-shop', name: 'web' }, { type: 'merge', body });
      const after = await until(/Secret sample-shop\/database +ready .* version /);
      expect(after).not.toBe(before);
      await until(/Pod sample-shop\/web-\S+ SecretSyncSuccess: /);
      const { data } = await client.get(Secret, { namespace: 'sample-shop', name: 'database' });
      expect(Buffer.from(data?.password ?? '', 'base64').toString()).toBe('another');
    }
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
  });

  it('says which samples were not ready in time, and ends with 1', async () => {
    const { kind } = await sharedControlPlane();
    const { errors, ended } = bowlineUp('--control-plane', kind, '--exit-when-ready', '--timeout', '1ms', '--json');
    expect(await ended).toEqual([1, null]);
    expect(errors()).toMatch(
      /not everything was ready within 1ms \(ConfigMapSync sample-platform\/registry-ca: .*UP_NOT_READY/,
    );
  });
});
