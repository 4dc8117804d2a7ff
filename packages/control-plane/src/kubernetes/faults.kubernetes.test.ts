import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ConfigMap, Deployment, ReplicaSet } from '@bowline/kubernetes';
import { isExpired } from '@bowline/runtime/client';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { ControlPlane } from '../control-plane.ts';
import { startControlPlane } from '../start-control-plane.ts';
import { cluster } from '../testing/cluster.ts';
import { sharedControlPlane } from '../testing/shared-control-plane.ts';

const here = fileURLToPath(new URL('../..', import.meta.url));

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a dedicated real control plane', () => {
  let starting: Promise<ControlPlane> | undefined;
  const crashes: string[] = [];
  /** start returns the control plane shared by these tests. It skips the test if none can be started. */
  const start = async (): Promise<ControlPlane> => {
    await sharedControlPlane();
    starting ??= startControlPlane({
      kind: 'kubernetes',
      version: '1.35',
      onCrash: (error) => crashes.push(error.message),
    });
    return starting;
  };
  afterAll(async () => (await starting)?.stop());

  it('keeps its data when the API server and etcd restart', async () => {
    const controlPlane = await start();
    await using c = await cluster({ controlPlane });
    const metadata = { name: 'kept', namespace: c.namespace };
    const made = await c.admin.create(ConfigMap, { metadata, data: { a: '1' } });
    for (const component of ['kube-apiserver', 'etcd'] as const) {
      const before = controlPlane.pid(component);
      await controlPlane.restart(component);
      expect(controlPlane.pid(component)).not.toBe(before);
      expect(await c.admin.get(ConfigMap, metadata)).toEqual(made);
    }
    expect(crashes).toEqual([]);
  });

  it('works without a killed component until it is restarted', async () => {
    const controlPlane = await start();
    await using c = await cluster({ controlPlane });
    await controlPlane.kill('kube-controller-manager');
    expect(controlPlane.pid('kube-controller-manager')).toBeUndefined();
    const labels = { app: 'web' };
    await c.admin.create(Deployment, {
      metadata: { name: 'web', namespace: c.namespace },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web' }] } },
      },
    });
    expect((await c.admin.list(ReplicaSet, { namespace: c.namespace })).items).toEqual([]);
    await controlPlane.restart('kube-controller-manager');
    await c.untilList(ReplicaSet, {}, (sets) => sets.length === 1);
  });

  it('serves no requests while it is paused', async () => {
    const controlPlane = await start();
    await using c = await cluster({ controlPlane });
    controlPlane.faults.pause('kube-apiserver');
    try {
      // The signal reaches all threads with a delay: a request may still be served.
      const isServing = () =>
        c.admin.raw('/version', { timeoutMs: 200 }).then(
          () => true,
          () => false,
        );
      await expect.poll(isServing).toBe(false);
    } finally {
      controlPlane.faults.resume('kube-apiserver');
    }
    expect(await c.admin.raw('/version')).toContain('gitVersion');
  });

  it('rejects a watch from before a compaction once the API server has restarted', async () => {
    const controlPlane = await start();
    await using c = await cluster({ controlPlane });
    const old = (await c.admin.list(ConfigMap)).metadata.resourceVersion;
    await c.admin.create(ConfigMap, { metadata: { name: 'newer', namespace: c.namespace } });
    await controlPlane.faults.compact();
    await controlPlane.restart('kube-apiserver');
    const watch = async (): Promise<void> => {
      const stream = await c.admin.watch(ConfigMap, { resourceVersion: old, timeoutSeconds: 5 });
      for await (const event of stream) expect.unreachable(`got ${event.type}`);
    };
    await expect(watch()).rejects.toSatisfy(isExpired);
  });

  it('reports a component that exits unexpectedly, and starts a scheduler again', async () => {
    const controlPlane = await start();
    const pid = controlPlane.pid('kube-scheduler') ?? 0;
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(() => expect(crashes).toEqual([expect.stringContaining('kube-scheduler exited unexpectedly')]));
    await vi.waitFor(() => expect(controlPlane.pid('kube-scheduler') ?? pid).not.toBe(pid), { timeout: 10_000 });
    await controlPlane.restart('kube-scheduler');
    expect(controlPlane.pid('kube-scheduler')).toBeDefined();
  });

  it('rejects a flag that the API server does not know, with the end of its log', async () => {
    await sharedControlPlane();
    const refused = startControlPlane({ kind: 'kubernetes', apiServerFlags: ['--no-such-flag=1'] });
    await expect(refused).rejects.toMatchObject({
      code: 'BOWLINE_CONTROL_PLANE_COMPONENT',
      message: expect.stringMatching(/^kube-apiserver exited with exit code 1(.|\n)*unknown flag: --no-such-flag/),
    });
  });
});

describe('a control plane whose parent process is killed', () => {
  it('leaves no process and no folder', async () => {
    // Skips the test if no control plane can be started.
    await sharedControlPlane();
    const program = `
      import { startControlPlane } from '@bowline/control-plane';
      const c = await startControlPlane({ kind: 'kubernetes', workloads: false });
      const pids = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((name) => c.pid(name));
      console.log(JSON.stringify({ folder: c.folder, pids }));`;
    const args = ['--conditions=@bowline/source', '--import', 'tsx', '--input-type=module', '--eval', program];
    const starter = spawn(process.execPath, args, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(createInterface({ input: starter.stdout }), 'line')) as [string];
    const { folder, pids } = JSON.parse(line) as { folder: string; pids: readonly number[] };
    expect(pids.map(isAlive)).toEqual([true, true, true, true]);
    starter.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false, false, false]), { timeout: 10_000 });
    await vi.waitFor(() => expect(access(folder)).rejects.toMatchObject({ code: 'ENOENT' }), { timeout: 10_000 });
  });
});
