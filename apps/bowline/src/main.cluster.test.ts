import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { kubectlProgram, sharedControlPlane } from '@bowline/control-plane/testing';
import { expect, it } from 'vitest';
import { bundledProgram } from '../../../test/support/bundled-program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('runs a control plane that kubectl can use until SIGTERM, and keeps its data in a folder', async () => {
  // Skips if no control plane can be started.
  const { kind } = await sharedControlPlane();
  const kubectl = await kubectlProgram({ kind });
  const folder = await mkdtemp(join(tmpdir(), 'bowline-cli-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const use = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(kubectl, ['--kubeconfig', kubeconfig, ...args]);
    return stdout;
  };
  const run = async (output: 'table' | 'json', work: (said: string) => Promise<void>): Promise<void> => {
    const args = [await bundledProgram('apps/bowline/src/main.ts'), 'control-plane', 'start'];
    const options = ['--kind', kind, '--kubeconfig', kubeconfig, '--data-dir', join(folder, 'data'), '-o', output];
    const child = spawn(process.execPath, [...args, ...options], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (line.startsWith('stop') || line === '}') break;
    }
    try {
      await work(lines.join('\n'));
    } finally {
      child.kill('SIGTERM');
    }
    expect(await ended).toEqual([0, null]);
  };
  try {
    await run('table', async () => {
      await use('create', 'configmap', 'kept', '--from-literal=a=1');
    });
    await run('json', async (said) => {
      expect(JSON.parse(said)).toMatchObject({ kind, kubeconfig, url: expect.stringMatching(/^https:\/\/127/) });
      expect(await use('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}')).toBe('1');
    });
    const { clusters } = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: { server: string } }];
    };
    await expect(fetch(clusters[0].cluster.server)).rejects.toThrow();
    await expect(access(join(dirname(kubeconfig), 'data', 'lock'))).rejects.toMatchObject({ code: 'ENOENT' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
