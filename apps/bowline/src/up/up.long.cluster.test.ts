import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import { operators } from '../operators/operators.ts';
import { bowline } from '../testing/test-operators.test-support.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Up is a process of `bowline up` with the lines that it printed. */
class Up {
  readonly ended: Promise<unknown[]>;
  errors = '';
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #unmatched: string[] = [];
  #kubeconfig = '';

  private constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.ended = once(child, 'close');
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    child.stderr.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
  }

  static async start(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Up> {
    const program = await bundledProgram('apps/bowline/src/main.ts');
    const child = spawn(process.execPath, [program, 'up', ...args], { cwd: root, env, stdio: 'pipe' });
    child.stdin.end();
    return new Up(child);
  }

  /** The file that the output named. */
  get kubeconfig(): string {
    return this.#kubeconfig;
  }

  /** until returns the first line that matches and was not returned before. */
  async until(pattern: RegExp): Promise<string> {
    for (let index = 0; ; index++) {
      const line = this.#unmatched[index] ?? (await this.#read(pattern));
      if (!pattern.test(line)) continue;
      this.#unmatched.splice(index, 1);
      return line;
    }
  }

  async #read(pattern: RegExp): Promise<string> {
    const { value = '', done } = await this.#lines.next();
    if (done) throw new Error(`ended before ${pattern}: ${this.errors}`);
    if (value.startsWith('kubeconfig ')) this.#kubeconfig = value.slice('kubeconfig '.length);
    this.#unmatched.push(value);
    return value;
  }

  async untilRunning(): Promise<void> {
    await this.until(/^stop/);
  }

  async result(): Promise<unknown> {
    return JSON.parse(await this.until(/^/));
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGINT');
    expect(await this.ended).toEqual([0, null]);
  }
}

/** kindOption selects the kind of control plane that the tests run on. */
async function kindOption(): Promise<readonly string[]> {
  return ['--control-plane', (await sharedControlPlane()).kind];
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
    const [option = '', kind = ''] = await kindOption();
    const up = await Up.start([option, kind, '--exit-when-ready', '--json']);
    expect(await up.result()).toMatchObject({
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
        { kind: 'IgnitionSync', key: 'sample-plant/plant', isReady: true },
        {
          kind: 'Pod',
          key: 'sample-plant/area-0',
          isReady: true,
          message: expect.stringMatching(/^mixer at [0-9a-f]{7}$/),
        },
        { kind: 'Pod', key: 'sample-plant/site-0', isReady: true },
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
    expect([await up.ended, up.errors]).toEqual([[0, null], '']);
  });

  it('continues with the data of its data folder, and creates no samples with --no-samples', async () => {
    const kind = await kindOption();
    const folder = await mkdtemp(join(tmpdir(), 'bowline-up-'));
    const run = async (...options: string[]): Promise<{ kubeconfig: string; copy: ConfigMap }> => {
      const common = ['--operators', 'configmap-sync', '--data-dir', join(folder, 'data')];
      const up = await Up.start([...kind, ...common, ...options]);
      await up.untilRunning();
      await using client = await clientOf(up.kubeconfig);
      const copy = await client.get(ConfigMap, copyKey);
      await up.stop();
      return { kubeconfig: up.kubeconfig, copy };
    };
    try {
      const first = await run();
      // The same object at the same address: it was not recreated.
      expect(await run('--no-samples')).toEqual(first);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('shows everything else without git, and why Ignition Sync is left out', async () => {
    const args = ['--operators', 'configmap-sync,ignition-sync', '--exit-when-ready', '--json'];
    // The embedded control plane needs no programs either.
    const up = await Up.start(args, { ...process.env, PATH: '' });
    expect(await up.result()).toMatchObject({
      ready: true,
      leftOut: ['ignition-sync: it needs git 2.38 or later on the PATH; install git, and start again'],
      objects: [{ kind: 'ConfigMapSync', key: 'sample-platform/registry-ca', isReady: true }],
    });
    expect([await up.ended, up.errors]).toEqual([[0, null], '']);
  });

  it('reports which samples were not ready in time, and exits with 1', async () => {
    const common = [...(await kindOption()), '--operators', 'ztwim'];
    const up = await Up.start([...common, '--exit-when-ready', '--timeout', '1ms', '--json']);
    expect(await up.ended).toEqual([1, null]);
    expect(up.errors).toMatch(
      /not everything was ready within 1ms \(.*Deployment \S+\/spire-spiffe-oidc-discovery-provider: .*UP_NOT_READY/,
    );
  });
});

describe('bowline up, while it runs', () => {
  let up: Up;
  let client: Client;
  beforeAll(async () => {
    up = await Up.start(await kindOption());
    await up.untilRunning();
    client = await clientOf(up.kubeconfig);
  });
  afterAll(async () => await client.close());

  const command = (...args: readonly string[]) =>
    bowline([...args, '--kubeconfig', up.kubeconfig], { registry: operators, env: { PATH: process.env.PATH } });

  it('shows a new value of the mock after a pod requests it again, and the events of the operator about the pod', async () => {
    await up.until(/^caution +jasm: every pod may request every path/);
    const before = await up.until(/Secret sample-shop\/database +ready .* version /);
    const set = await command('jasm', 'mock', 'set', '/shop/database', 'username=shop', 'password=another');
    expect(set.code).toBe(0);
    const annotations = { 'example.dev/restarted': 'yes' };
    const body = { spec: { template: { metadata: { annotations } } } };
    await client.patch(Deployment, { namespace: 'sample-shop', name: 'web' }, { type: 'merge', body });
    const after = await up.until(/Secret sample-shop\/database +ready .* version /);
    expect(after).not.toBe(before);
    await up.until(/Pod sample-shop\/web-\S+ SecretSyncSuccess: /);
    const { data } = await client.get(Secret, { namespace: 'sample-shop', name: 'database' });
    expect(Buffer.from(data?.password ?? '', 'base64').toString()).toBe('another');
  });

  it('syncs what is pushed to the sample repository, and keeps the gateways as they are if the commit is broken', async () => {
    const push = async (...flags: readonly string[]): Promise<string> => {
      const { code, out, err } = await command('ignition-sync', 'sample', 'push', ...flags, '-o', 'json');
      expect([code, err]).toEqual([0, '']);
      return String((JSON.parse(out) as { commit: string }).commit);
    };
    await up.until(
      /IgnitionSync sample-plant\/plant +ready +2\/2 gateways synced; repository http:.*; gateways https:/,
    );
    const good = await push();
    await up.until(new RegExp(`Pod sample-plant/site-0 +ready +.*overview.* at ${good.slice(0, 7)}`));
    await push('--broken');
    await up.until(new RegExp(`Pod sample-plant/site-0 .* at ${good.slice(0, 7)}; ConfigSyntaxError`));
  });

  it('rolls out server and agents of ztwim when the cluster name changes, and refuses another trust domain', async () => {
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
    await expect.poll(generations).toEqual([server + 1, agent + 1, ...others]);
    const other = { type: 'merge', body: { spec: { trustDomain: 'other.org' } } } as const;
    await expect(client.patch(SpireAgent, { name: 'cluster' }, other)).rejects.toThrow(/"other.org".*"example.io"/);
    const status = await command('ztwim', 'status');
    expect([status.code, status.err]).toEqual([0, '']);
    expect(status.out).toMatch(/^SpireAgent .* example.io \(ZTWIM\) +prod-us-east \(ZTWIM\) +spire-bundle \(ZTWIM\)/m);
    expect(status.out).toMatch(/^SpireServer .* https:\/\/oidc-provider\.example\.io \(Operand\)$/m);
  });

  it('serves other clients until it is stopped, and leaves nothing behind', async () => {
    const copy = await client.get(ConfigMap, copyKey);
    expect(Object.keys(copy.data ?? {})).toEqual(['ca.crt']);
    await up.stop();
    await expect(readFile(up.kubeconfig)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
