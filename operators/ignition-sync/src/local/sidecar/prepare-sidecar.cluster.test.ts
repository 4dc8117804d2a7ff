import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { PersistentVolumeClaim, Pod, Secret } from '@bowline/kubernetes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { IgnitionSync } from '../../api/ignition-sync.ts';
import { minimal } from '../../api/specs.test-support.ts';
import { injectAgent } from '../../injection/inject-agent.ts';
import { runSidecar } from '../run-sidecar.ts';
import { type PreparedSidecar, prepareSidecar } from './prepare-sidecar.ts';

let c: Cluster;
let folder: string;
let pod: Pod;
beforeAll(async () => {
  c = await cluster({ prefix: 'sidecar' });
  folder = await mkdtemp(join(tmpdir(), 'bowline-sidecar-'));
  pod = await storedPod();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await c[Symbol.asyncDispose]();
});

const encode = (text: string): string => Buffer.from(text).toString('base64');

/** storedPod creates a pod with an agent, its claim and its Secrets. */
async function storedPod(): Promise<Pod> {
  const { namespace, admin } = c;
  const token = { secretRef: { name: 'git', key: 'token' } };
  const sync = IgnitionSync.withDefaults({
    metadata: { namespace, name: 'plant' },
    spec: minimal({ git: { ...minimal().git, auth: { token } } }),
  });
  await admin.create(Secret, {
    metadata: { namespace, name: 'git' },
    data: { token: encode('s3cret'), other: encode('never mounted') },
  });
  await admin.create(PersistentVolumeClaim, {
    metadata: { namespace, name: 'data-site-0' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await c.until(PersistentVolumeClaim, { name: 'data-site-0' }, ({ status }) => status?.phase === 'Bound');
  const requested: Pod = {
    metadata: {
      namespace,
      name: 'site-0',
      annotations: { 'ignition-sync.io/inject': 'true', note: 'a "b"\nc' },
      labels: { tier: 'test' },
    },
    spec: {
      containers: [
        {
          name: 'gateway',
          image: 'ignition',
          env: [{ name: 'SITE', value: 'north' }],
          volumeMounts: [{ name: 'data', mountPath: '/ignition', subPathExpr: '$(SITE)/data' }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-site-0' } }],
    },
  };
  const injection = injectAgent(requested, {
    syncs: [sync],
    untrusted: undefined,
    config: { agentUser: 2003, maxRepositoryMiB: 10 },
    image: 'bowline',
  });
  if (injection.result !== 'injected') throw new Error(injection.result);
  return await admin.create(Pod, injection.pod);
}

const prepare = (flags?: Readonly<Record<string, string>>): Promise<PreparedSidecar> =>
  prepareSidecar({
    pod,
    folder,
    client: c.admin,
    kubeconfigFor: async (account) => JSON.stringify(await c.kubeconfig(account)),
    flags,
  });

/** flagsOf returns the flags of a command line by name. */
const flagsOf = (args: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(args.slice(2).map((arg) => arg.slice(2).split(/=(.*)/s, 2)));

it('makes the volumes of the agent folders, with the projected keys only', async () => {
  const { args, dataFolder } = await prepare();
  const flags = flagsOf(args);
  expect(args.slice(0, 2)).toEqual(['ignition-sync', 'agent']);
  expect(flags).toMatchObject({
    cr: 'plant',
    'pod-name': 'site-0',
    'pod-namespace': c.namespace,
    'gateway-name': 'site-0',
    'data-folder': dataFolder,
    'repo-folder': join(folder, 'ignition-sync-repo'),
    'git-token-file': join(folder, 'ignition-sync-git', 'token'),
  });
  expect(await readdir(join(folder, 'ignition-sync-git'))).toEqual(['token']);
  expect(await readFile(flags['git-token-file'] ?? '', 'utf8')).toBe('s3cret');
  expect((await stat(flags['git-token-file'] ?? '')).mode & 0o777).toBe(0o444);
  // The Secret with the key of the gateway does not exist: the agent starts and reports it.
  expect(await readdir(join(folder, 'ignition-sync-api-key'))).toEqual([]);
  const annotations = await readFile(join(flags['pod-info-folder'] ?? '', 'annotations'), 'utf8');
  expect(annotations).toContain('note="a \\"b\\"\\nc"\n');
  expect(await readFile(join(flags['pod-info-folder'] ?? '', 'labels'), 'utf8')).toContain('tier="test"\n');
});

it('shares the folder of the claim with the gateway', async () => {
  const { dataFolder } = await prepare();
  const claim = await c.admin.get(PersistentVolumeClaim, { namespace: c.namespace, name: 'data-site-0' });
  expect(dataFolder.endsWith('/north/data')).toBe(true);
  expect(dataFolder).toContain(claim.spec?.volumeName);
});

it('has a kubeconfig of the account of the pod, with a token that is bound to the pod', async () => {
  const { args } = await prepare();
  const file = flagsOf(args).kubeconfig ?? '';
  expect((await stat(file)).mode & 0o777).toBe(0o400);
  const { users } = JSON.parse(await readFile(file, 'utf8'));
  const { token } = users[0].user;
  const claims = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString());
  expect(claims['kubernetes.io']).toMatchObject({
    namespace: c.namespace,
    pod: { name: 'site-0', uid: pod.metadata?.uid },
    serviceaccount: { name: 'default' },
  });
  expect(await readFile(join(folder, 'ignition-sync-token', 'token'), 'utf8')).toBe(token);
});

it('updates files as a kubelet does, and keeps what the agent wrote', async () => {
  const sidecar = await prepare();
  const kept = join(folder, 'ignition-sync-repo', 'kept');
  await writeFile(kept, '');
  const body = { data: { token: encode('rotated') } };
  await c.admin.patch(Secret, { namespace: c.namespace, name: 'git' }, { type: 'merge', body });
  await sidecar.refresh({ ...pod, metadata: { ...pod.metadata, labels: { tier: 'live' } } });
  expect(await readFile(join(folder, 'ignition-sync-git', 'token'), 'utf8')).toBe('rotated');
  expect(await readFile(join(folder, 'ignition-sync-pod-info', 'labels'), 'utf8')).toBe('tier="live"\n');
  await c.admin.delete(Secret, { namespace: c.namespace, name: 'git' });
  await sidecar.refresh();
  expect(await readdir(join(folder, 'ignition-sync-git'))).toEqual([]);
  await prepare();
  expect(await readFile(kept, 'utf8')).toBe('');
});

it('starts exactly the command line, with other ports if requested', async () => {
  const prepared = await prepare({ 'gateway-port': '18043', 'health-address': '127.0.0.1:18082' });
  const script = 'console.log(JSON.stringify([process.argv.slice(1), process.env])); setInterval(() => {}, 1e6)';
  await using running = runSidecar(prepared, { program: process.execPath, args: ['-e', script, '--'] });
  if (running.child.stdout === null) throw new Error('no output');
  for await (const line of createInterface({ input: running.child.stdout })) {
    const [argv, env] = JSON.parse(line);
    expect(argv).toEqual(prepared.args);
    expect(flagsOf(argv)).toMatchObject({ 'gateway-port': '18043', 'health-address': '127.0.0.1:18082' });
    expect(Object.keys(env).filter((name) => name !== 'PATH')).toEqual(['POD_NAME', 'POD_NAMESPACE', 'SITE']);
    break;
  }
  expect(await running.stop('SIGTERM')).toEqual({ code: null, signal: 'SIGTERM' });
});

it('refuses a pod without an agent', async () => {
  const plain = { ...pod, spec: { containers: pod.spec?.containers ?? [] } };
  const prepared = prepareSidecar({ pod: plain, folder, client: c.admin, kubeconfigFor: () => Promise.resolve('{}') });
  await expect(prepared).rejects.toMatchObject({ code: 'BOWLINE_SIDECAR_UNSUPPORTED' });
});
