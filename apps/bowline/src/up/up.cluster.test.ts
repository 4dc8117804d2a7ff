import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { connectClient, type KubeconfigDocument } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  DaemonSet,
  Deployment,
  type KubernetesObject,
  type Resource,
  Secret,
  StatefulSet,
} from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';
import { SpireAgent, ZeroTrustWorkloadIdentityManager } from '@bowline/ztwim';
import { describe, expect, it, vi } from 'vitest';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { operators } from '../operators/operators.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

async function bowlineUp(...args: string[]) {
  const child = spawn(process.execPath, [await bundledProgram('apps/bowline/src/main.ts'), 'up', ...args], {
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

/** untilRunning reads the output until all is ready, and returns the kubeconfig that it names. */
async function untilRunning({ lines }: Awaited<ReturnType<typeof bowlineUp>>): Promise<string> {
  let kubeconfig = '';
  for (;;) {
    const { value = '', done } = await lines.next();
    if (done) throw new Error('ended before it was ready');
    if (value.startsWith('kubeconfig ')) kubeconfig = value.slice('kubeconfig '.length);
    if (value.startsWith('stop')) return kubeconfig;
  }
}

async function clientOf(kubeconfig: string): Promise<Client> {
  return connectClient(JSON.parse(await readFile(kubeconfig, 'utf8')) as KubeconfigDocument);
}

async function generationOf(client: Client, resource: Resource<KubernetesObject>, name: string): Promise<unknown> {
  return (await client.get(resource, { namespace: OPERANDS, name })).metadata?.generation;
}

const OPERANDS = 'zero-trust-workload-identity-manager';
const copyKey = { namespace: 'sample-team-red', name: 'registry-ca' };

describe('bowline up', () => {
  it('exits with 0 once every sample is ready, and reports it in one line of JSON', async () => {
    const { kind } = await sharedControlPlane();
    const { lines, errors, ended } = await bowlineUp('--control-plane', kind, '--exit-when-ready', '--json');
    const { value } = await lines.next();
    expect(JSON.parse(String(value))).toMatchObject({
      ready: true,
      controlPlane: { kind, url: expect.stringContaining('https://127.0.0.1:') },
      warnings: [
        expect.stringMatching(/^hsm-secrets: HSM devices are simulated/),
        expect.stringMatching(/^jasm: every pod may request every path/),
      ],
      objects: [
        { kind: 'ConfigMapSync', key: 'sample-platform/registry-ca', isReady: true },
        { kind: 'HSMPool', key: 'sample-hsm/pico-hsm-test-pool', isReady: true },
        { kind: 'HSMSecret', key: 'sample-hsm/database', isReady: true },
        { kind: 'Deployment', key: 'sample-shop/web', isReady: true, message: '1 of 1 pods running' },
        { kind: 'Secret', key: 'sample-shop/database', isReady: true },
        { kind: 'DaemonSet', key: `${OPERANDS}/spire-agent`, isReady: true },
        { kind: 'DaemonSet', key: `${OPERANDS}/spire-spiffe-csi-driver`, isReady: true },
        { kind: 'Deployment', key: `${OPERANDS}/spire-spiffe-oidc-discovery-provider`, isReady: true },
        { kind: 'SpiffeCSIDriver', key: 'cluster', isReady: true },
        { kind: 'SpireAgent', key: 'cluster', isReady: true },
        { kind: 'SpireOIDCDiscoveryProvider', key: 'cluster', isReady: true },
        { kind: 'SpireServer', key: 'cluster', isReady: true },
        { kind: 'StatefulSet', key: `${OPERANDS}/spire-server`, isReady: true },
        { kind: 'ZeroTrustWorkloadIdentityManager', key: 'cluster', isReady: true },
      ],
    });
    expect([await ended, errors()]).toEqual([[0, null], '']);
  });

  it('serves other clients until it is stopped, and leaves nothing behind', async () => {
    const { kind } = await sharedControlPlane();
    const up = await bowlineUp('--control-plane', kind, '--operators', 'configmap-sync');
    const kubeconfig = await untilRunning(up);
    {
      await using client = await clientOf(kubeconfig);
      const copy = await client.get(ConfigMap, copyKey);
      expect(Object.keys(copy.data ?? {})).toEqual(['ca.crt']);
    }
    up.child.kill('SIGINT');
    expect(await up.ended).toEqual([0, null]);
    await expect(readFile(kubeconfig)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('continues with the data of its data folder, and creates no samples with --no-samples', async () => {
    const { kind } = await sharedControlPlane();
    const folder = await mkdtemp(join(tmpdir(), 'bowline-up-'));
    const run = async (...options: string[]): Promise<{ kubeconfig: string; copy: ConfigMap }> => {
      const common = ['--operators', 'configmap-sync', '--data-dir', join(folder, 'data')];
      const up = await bowlineUp('--control-plane', kind, ...common, ...options);
      const kubeconfig = await untilRunning(up);
      await using client = await clientOf(kubeconfig);
      const copy = await client.get(ConfigMap, copyKey);
      up.child.kill('SIGINT');
      expect(await up.ended).toEqual([0, null]);
      return { kubeconfig, copy };
    };
    try {
      const first = await run();
      // The same object at the same address: it was not recreated.
      expect(await run('--no-samples')).toEqual(first);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('shows a new value of the mock after a pod requests it again, and the events of the operator about the pod', async () => {
    const { kind } = await sharedControlPlane();
    const { child, lines, ended } = await bowlineUp('--control-plane', kind, '--operators', 'jasm');
    let kubeconfig = '';
    const until = async (pattern: RegExp): Promise<string> => {
      for (;;) {
        const { value = '', done } = await lines.next();
        if (done) throw new Error(`ended before ${pattern}`);
        if (value.startsWith('kubeconfig ')) kubeconfig = value.slice('kubeconfig '.length);
        if (pattern.test(value)) return value;
      }
    };
    await until(/^caution +jasm: every pod may request every path/);
    const before = await until(/Secret sample-shop\/database +ready .* version /);
    const set = ['jasm', 'mock', 'set', '/shop/database', 'username=shop', 'password=another'];
    expect(await bowline([...set, '--kubeconfig', kubeconfig], { registry: operators })).toMatchObject({ code: 0 });
    {
      await using client = await clientOf(kubeconfig);
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

  it('rolls out server and agents of ztwim when the cluster name changes, and refuses another trust domain', async () => {
    const { kind } = await sharedControlPlane();
    const up = await bowlineUp('--control-plane', kind, '--operators', 'ztwim');
    const kubeconfig = await untilRunning(up);
    {
      await using client = await clientOf(kubeconfig);
      const generations = async (): Promise<readonly unknown[]> =>
        await Promise.all([
          generationOf(client, StatefulSet, 'spire-server'),
          generationOf(client, DaemonSet, 'spire-agent'),
          generationOf(client, DaemonSet, 'spire-spiffe-csi-driver'),
          generationOf(client, Deployment, 'spire-spiffe-oidc-discovery-provider'),
        ]);
      const [server = 0, agent = 0, ...others] = (await generations()) as readonly number[];
      const body = { spec: { clusterName: 'prod-us-east' } };
      await client.patch(ZeroTrustWorkloadIdentityManager, { name: 'cluster' }, { type: 'merge', body });
      await vi.waitFor(async () => expect(await generations()).toEqual([server + 1, agent + 1, ...others]), 30_000);
      const other = { type: 'merge', body: { spec: { trustDomain: 'other.org' } } } as const;
      await expect(client.patch(SpireAgent, { name: 'cluster' }, other)).rejects.toThrow(/"other.org".*"example.io"/);
      const status = await bowline(['ztwim', 'status', '--kubeconfig', kubeconfig], { registry: operators });
      expect([status.code, status.err]).toEqual([0, '']);
      expect(status.out).toMatch(
        /^SpireAgent .* example.io \(ZTWIM\) +prod-us-east \(ZTWIM\) +spire-bundle \(ZTWIM\)/m,
      );
      expect(status.out).toMatch(/^SpireServer .* https:\/\/oidc-provider\.example\.io \(Operand\)$/m);
    }
    up.child.kill('SIGINT');
    expect(await up.ended).toEqual([0, null]);
  });

  it('reports which samples were not ready in time, and exits with 1', async () => {
    const { kind } = await sharedControlPlane();
    const common = ['--control-plane', kind, '--operators', 'ztwim'];
    const { errors, ended } = await bowlineUp(...common, '--exit-when-ready', '--timeout', '1ms', '--json');
    expect(await ended).toEqual([1, null]);
    expect(errors()).toMatch(
      /not everything was ready within 1ms \(.*Deployment \S+\/spire-spiffe-oidc-discovery-provider: .*UP_NOT_READY/,
    );
  });
});
