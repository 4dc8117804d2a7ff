import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cluster, cluster, type Kubectl, kubectlOf } from '@bowline/control-plane/testing';
import {
  ConfigMap,
  Deployment,
  type KubernetesObject,
  MutatingWebhookConfiguration,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  type Resource,
  Role,
  type StatefulSet,
  ValidatingWebhookConfiguration,
} from '@bowline/kubernetes';
import { findCondition } from '@bowline/runtime';
import { isForbidden } from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operators } from '../../../../apps/bowline/src/operators/operators.ts';
import {
  type Files,
  freePort,
  temporaryFiles,
} from '../../../../apps/bowline/src/testing/child-process.test-support.ts';
import { install, retryUntilAdmitted } from '../../../../apps/bowline/src/testing/install.test-support.ts';
import { bowline } from '../../../../apps/bowline/src/testing/test-operators.test-support.ts';
import { availableGit } from '../../../../test/support/git/git-program.ts';
import { type GitServer, startGitServer } from '../../../../test/support/git/git-server.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { AGENT_CONTAINER, INJECTION_ANNOTATIONS, LABELS, objectNames } from '../api/names.ts';
import { plantFiles } from '../local/git/plant-files.ts';
import { samplesOf } from '../samples.ts';
import { startSidecar } from './sidecar.test-support.ts';

const git = await availableGit();
const TOKEN = 'canary-7c20';
const CR = 'plant';
const POD = 'site-0';
const VIEW = 'projects/line-1/com.inductiveautomation.perspective/views/main/view.json';
const program = { registry: operators, entry: 'apps/bowline/src/main.ts' };

describe.skipIf('skippedBecause' in git)('an install of ignition-sync', () => {
  let c: Cluster;
  let kubectl: Kubectl;
  let files: Files;
  let server: GitServer;
  let commit: string;
  let folder: string;
  beforeAll(async () => {
    // An install for the whole cluster would reconcile the objects of other tests.
    c = await cluster({ isolation: 'control-plane', prefix: 'plant' });
    kubectl = await kubectlOf(c);
    files = await temporaryFiles();
    folder = await mkdtemp(join(tmpdir(), 'bowline-install-'));
    server = await startGitServer({ plain: true, auth: { username: 'x-access-token', password: TOKEN } });
    commit = await (await server.repositories.create('plant.git')).commit(plantFiles());
  });
  afterAll(async () => {
    await c[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await files[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  /** restrictedNamespace creates a namespace whose pods must comply with the strictest standard. */
  async function restrictedNamespace(): Promise<string> {
    const name = await c.createNamespace('gateways');
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    await c.admin.patch(Namespace, { name }, { type: 'merge', body: { metadata: { labels } } });
    return name;
  }

  /** sampleIn returns the sample with one gateway and with shared storage. */
  function sampleIn(namespace: string) {
    const repo = `${server.url}/plant.git`;
    const samples = samplesOf({ repo, ref: 'main', token: TOKEN, hmac: 'hmac', apiKey: 'agent:key' });
    const find = (wanted: string): KubernetesObject => {
      const found = samples.find(({ kind }) => kind === wanted) as KubernetesObject;
      return { ...found, metadata: { ...found.metadata, namespace } };
    };
    const sync = find('IgnitionSync') as IgnitionSync;
    return {
      secret: find('Secret'),
      sync: { ...sync, spec: { ...sync.spec, storage: {} } },
      gateway: find('StatefulSet') as StatefulSet,
    };
  }

  /** untilInjected waits until the API server calls the webhook for pods, which it observes with a delay. */
  async function untilInjected(namespace: string, { spec }: StatefulSet): Promise<void> {
    const { metadata, spec: podSpec } = spec?.template ?? {};
    const volumes = [{ name: 'data', emptyDir: {} }];
    const pod: Pod = {
      metadata: { ...metadata, namespace, name: 'probe' },
      spec: { containers: [], ...podSpec, volumes },
    };
    const injected = async () => {
      const { metadata: { annotations } = {} } = await c.admin.create(Pod, pod, { dryRun: true });
      return annotations?.[INJECTION_ANNOTATIONS.injected] ?? annotations?.[INJECTION_ANNOTATIONS.notInjected];
    };
    await expect.poll(injected).toBe('true');
  }

  /** volumeOf returns the folder of the volume with the files of the gateway. */
  async function volumeOf(namespace: string): Promise<string> {
    const claim = await c.admin.get(PersistentVolumeClaim, { namespace, name: `data-${POD}` });
    const volume = await c.admin.get(PersistentVolume, { name: claim.spec?.volumeName ?? '' });
    return volume.spec?.hostPath?.path ?? '';
  }

  /** startGateway runs the agent of a pod, and its gateway, as a kubelet would. Disposing of it stops both. */
  async function startGateway(pod: Pod): Promise<AsyncDisposable> {
    const agent = await startSidecar(pod, {
      folder,
      admin: c.admin,
      kubeconfigFor: async (account) => JSON.stringify(await c.kubeconfig(account)),
    });
    const gateway = agent.gateway();
    c.onDispose(() => Promise.all([agent[Symbol.asyncDispose](), gateway.stop()]));
    await expect.poll(() => agent.probe('/startupz'), { timeout: 60_000 }).toBe(200);
    await gateway.start();
    return {
      async [Symbol.asyncDispose]() {
        expect(await agent.running.stop()).toEqual({ code: 0, signal: null });
        await gateway.stop();
      },
    };
  }

  /** isRefused reports whether the API server refuses a pod that the standard does not allow. */
  async function isRefused(namespace: string): Promise<boolean> {
    const pod: Pod = { metadata: { namespace, name: 'plain' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    return c.admin.create(Pod, pod, { dryRun: true }).then(() => false, isForbidden);
  }

  it.each([
    ['in the whole cluster', (_: string): string[] => []],
    ['in one namespace', (namespace: string): string[] => ['--namespaces', namespace]],
  ])('syncs %s under pod security restricted, and is uninstalled without the loss of files', async (_, limit) => {
    const { admin } = c;
    const namespace = await restrictedNamespace();
    const elsewhere = await c.createNamespace('elsewhere');
    const key = { namespace, name: CR };
    const isLimited = limit(namespace).length > 0;
    const receiver = ['--webhook-receiver-host', '127.0.0.1', '--webhook-receiver-port', String(await freePort())];
    const args = ['--operators', 'ignition-sync', ...receiver, ...limit(namespace)];
    const { home, start } = await install(c, files, args, program);
    await c.until(Deployment, { namespace: home, name: 'bowline' }, ({ status }) => status?.readyReplicas === 2);
    // The embedded control plane stores the level without enforcing it.
    for (const each of [home, namespace]) expect(await isRefused(each)).toBe(c.controlPlane.kind === 'kubernetes');

    // A pod has a volume for temporary files, and its image is that of agents.
    await using manager = await start(['--scratch-folder', join(folder, home), '--agent-image', 'bowline:test']);
    const { secret, sync, gateway } = sampleIn(namespace);
    await manager.logged(/serving webhooks/);
    await kubectl(['apply', '-f', '-'], JSON.stringify(secret));
    await retryUntilAdmitted(() => kubectl(['apply', '-f', '-'], JSON.stringify(sync)));
    const far = { ...sync, metadata: { name: CR, namespace: elsewhere } };
    if (isLimited) await kubectl(['apply', '-f', '-'], JSON.stringify(far));
    await untilInjected(namespace, gateway);
    await kubectl(['apply', '-f', '-'], JSON.stringify(gateway));
    const pod = await c.until(Pod, { namespace, name: POD }, ({ status }) => status?.phase === 'Running');
    expect(pod.spec?.initContainers).toMatchObject([{ name: AGENT_CONTAINER, image: 'bowline:test' }]);

    await using agent = await startGateway(pod);
    const ready = await c.until(IgnitionSync, key, (each) => findCondition(each, 'Ready')?.status === 'True');
    expect(ready.status?.discoveredGateways).toMatchObject([{ podName: POD, syncedCommit: commit }]);
    const view = join(await volumeOf(namespace), VIEW);
    const content = await readFile(view, 'utf8');
    expect(content).toBe(plantFiles()[`services/site/${VIEW}`]);
    if (isLimited) expect(await admin.get(IgnitionSync, { ...key, namespace: elsewhere })).not.toHaveProperty('status');
    expect(await manager.stop()).toMatchObject({ code: 0 });

    const { claim, metadata, status, changes, agent: access } = objectNames(CR);
    const kept: readonly (readonly [Resource<KubernetesObject>, string])[] = [
      [IgnitionSync, CR],
      [PersistentVolumeClaim, claim],
      [PersistentVolumeClaim, `data-${POD}`],
      [ConfigMap, metadata],
      [ConfigMap, status],
      [ConfigMap, changes],
      [Role, access],
      [Pod, POD],
    ];
    const uidsOf = () =>
      Promise.all(kept.map(async ([kind, name]) => uidOf(await admin.get(kind, { namespace, name }))));
    const uids = await uidsOf();
    const kubeconfig = await files.write(`${home}.admin`, JSON.stringify(await c.kubeconfig('admin')));
    const uninstall = ['uninstall', '--namespace', home, '--kubeconfig', kubeconfig, '--yes'];
    const { code, err } = await bowline(uninstall, { registry: operators });
    expect([code, err]).toEqual([0, expect.stringContaining('released 1 IgnitionSync')]);
    expect(await uidsOf()).toEqual(uids);
    for (const kind of [ValidatingWebhookConfiguration, MutatingWebhookConfiguration]) {
      expect(await admin.find<KubernetesObject>(kind, { name: `bowline-ignition-sync-${home}` })).toBeUndefined();
    }
    // Changes and deletions wait for no webhook and no finalizer.
    await kubectl(['patch', 'isync', CR, '-n', namespace, '--type=merge', '-p', '{"spec":{"paused":true}}']);
    await kubectl(['delete', 'isync', CR, '-n', namespace, '--timeout=60s']);
    await c.untilGone(Role, { namespace, name: access });
    const labelSelector = `${LABELS.crName}=${CR}`;
    const left = await c.untilList(ConfigMap, { namespace, labelSelector }, ({ length }) => length === 2);
    expect(left.map((each) => each.metadata?.name).sort()).toEqual([changes, status]);
    await kubectl(['delete', 'configmap', '-n', namespace, '-l', labelSelector]);
    await agent[Symbol.asyncDispose]();
    await admin.delete(Pod, { namespace, name: POD });
    const recreated = await c.until(Pod, { namespace, name: POD }, (each) => {
      return each.metadata?.uid !== pod.metadata?.uid && each.status?.phase === 'Running';
    });
    expect(recreated.spec?.initContainers).toBeUndefined();
    await c.untilGone(PersistentVolumeClaim, { namespace, name: claim });
    await admin.get(PersistentVolumeClaim, { namespace, name: `data-${POD}` });
    expect(await readFile(view, 'utf8')).toBe(content);
  });
});

function uidOf({ metadata }: KubernetesObject): string | undefined {
  return metadata?.deletionTimestamp === undefined ? metadata?.uid : 'is being deleted';
}
