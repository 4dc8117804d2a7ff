import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connectClient, type KubeconfigDocument } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { ConfigMap } from '@bowline/kubernetes';
import { describe, expect, it } from 'vitest';

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
      objects: [{ kind: 'ConfigMapSync', key: 'sample-platform/registry-ca', isReady: true }],
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

  it('says which samples were not ready in time, and ends with 1', async () => {
    const { kind } = await sharedControlPlane();
    const { errors, ended } = bowlineUp('--control-plane', kind, '--exit-when-ready', '--timeout', '1ms', '--json');
    expect(await ended).toEqual([1, null]);
    expect(errors()).toMatch(
      /not everything was ready within 1ms \(ConfigMapSync sample-platform\/registry-ca: .*UP_NOT_READY/,
    );
  });
});
