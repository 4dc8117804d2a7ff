import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigMap, ServiceAccount } from '@bowline/kubernetes';
import { systemClock, systemRandom } from '@bowline/machinery';
import { BowlineError } from '@bowline/runtime';
import { accessTo } from '../access.ts';
import { auditFolder, auditPolicy } from '../audit/audit-log.ts';
import { ensureBinaries } from '../binaries/build-binaries.ts';
import { connectClient, connectClients } from '../connect-client.ts';
import type { Component, ControlPlane } from '../control-plane.ts';
import { kubeconfigDocument, writeKubeconfig } from '../kubeconfig.ts';
import { lockDataDir } from '../lock-data-dir.ts';
import { startOwnNodeAgent } from '../own-node-agent.ts';
import { createPki, type Pki, readPersistedPki, writePki } from '../pki.ts';
import { freePorts, requirePort } from '../ports.ts';
import { Supervisor } from '../supervisor/supervisor.ts';
import { untilExists } from '../until-exists.ts';
import { ComponentSet } from './component-set.ts';
import { auditPolicyFile, type ComponentSettings, componentKubeconfig } from './components.ts';
import { KubernetesControlPlane } from './kubernetes-control-plane.ts';
import type { KubernetesOptions } from './options.ts';
import { probe } from './probe.ts';

/** startKubernetes starts etcd, kube-apiserver, kube-controller-manager and kube-scheduler on 127.0.0.1. */
export async function startKubernetes(options: KubernetesOptions): Promise<ControlPlane> {
  const { signal } = options;
  const startedAt = systemClock.monotonic();
  const needed: readonly Component[] = [
    'etcd',
    'kube-apiserver',
    ...((options.controllerManager ?? true) ? (['kube-controller-manager'] as const) : []),
    ...((options.scheduler ?? true) ? (['kube-scheduler'] as const) : []),
  ];
  if (options.port !== undefined) await requirePort(options.port);
  const { paths } = await ensureBinaries(needed, options);
  signal?.throwIfAborted();
  const found = systemClock.monotonic();

  const dataDir = options.dataDir === undefined ? undefined : resolve(options.dataDir);
  const lock = dataDir === undefined ? undefined : await lockDataDir(dataDir);
  const supervisor = new Supervisor({ folder: dataDir, command: options.supervisor });
  try {
    // Starting the supervisor and creating the certificates each take a moment: do both concurrently.
    const [folder, pki, ports] = await Promise.all([
      supervisor.opened(),
      preparePki(dataDir),
      choosePorts(options.port),
    ]);
    const settings = await writeSettings({ folder, pki, ports, options });
    const prepared = systemClock.monotonic();

    const { certificatePem: cert, keyPem: key } = pki.admin;
    const ca = pki.authority.certificatePem;
    const components = new ComponentSet({
      supervisor,
      settings,
      paths,
      ca,
      cert,
      key,
      readyTimeoutMs: options.readyTimeoutMs ?? 60_000,
      onCrash: options.onCrash ?? (() => {}),
    });
    // The API server waits for etcd by itself. The others gain nothing from an early start: until the API server is ready it has
    // no roles for them, and they back off.
    await Promise.all([components.start('etcd', signal), components.start('kube-apiserver', signal)]);
    const url = `https://127.0.0.1:${ports.apiServer}`;
    const version = checkVersion(await probe(`${url}/version`, { ca, cert, key }), options.version);
    const servingSince = systemClock.monotonic();

    const access = accessTo({ kind: 'kubernetes', url, folder, version }, pki.authority);
    await Promise.all([
      ...needed.slice(2).map((component) => components.start(component, signal)),
      ...(needed.includes('kube-controller-manager') ? [untilControllersReady(access, options)] : []),
    ]);
    const nodeAgent = await startOwnNodeAgent(connectClients(access), {
      nodes: options.nodes ?? 2,
      logs: true,
      volumesFolder: join(folder, 'volumes'),
      signal,
    });
    const done = systemClock.monotonic();
    components.reportCrashes();
    return new KubernetesControlPlane({
      access,
      components,
      supervisor,
      lock,
      parts: needed,
      folder,
      nodeAgent,
      etcdUrl: `http://127.0.0.1:${ports.etcdClient}`,
      timings: {
        binariesMs: found - startedAt,
        prepareMs: prepared - found,
        apiServerMs: servingSince - prepared,
        controllersMs: done - servingSince,
        totalMs: done - startedAt,
      },
    });
  } catch (error) {
    await supervisor.stop();
    await lock?.release();
    throw error;
  }
}

async function preparePki(dataDir: string | undefined): Promise<Pki> {
  return createPki(dataDir === undefined ? undefined : await readPersistedPki(dataDir));
}

async function choosePorts(port: number | undefined): Promise<ComponentSettings['ports']> {
  const [etcdClient = 0, etcdPeer = 0, controllerManager = 0, scheduler = 0, free = 0] = await freePorts(
    5,
    systemRandom,
  );
  return { etcdClient, etcdPeer, controllerManager, scheduler, apiServer: port ?? free };
}

/** writeSettings writes every file that the components read. */
async function writeSettings(parts: {
  readonly folder: string;
  readonly pki: Pki;
  readonly ports: ComponentSettings['ports'];
  readonly options: KubernetesOptions;
}): Promise<ComponentSettings> {
  const { folder, pki, ports, options } = parts;
  const kubeconfig = (component: Component, credentials: Pki['admin']): Promise<void> =>
    writeKubeconfig(
      componentKubeconfig(folder, component),
      kubeconfigDocument({
        server: `https://127.0.0.1:${ports.apiServer}`,
        authorityPem: pki.authority.certificatePem,
        user: component,
        credentials,
      }),
    );
  const [files] = await Promise.all([
    writePki(folder, pki),
    kubeconfig('kube-controller-manager', pki.controllerManager),
    kubeconfig('kube-scheduler', pki.scheduler),
    writeFile(auditPolicyFile(folder), JSON.stringify(auditPolicy, undefined, 2)),
    mkdir(auditFolder(folder), { recursive: true, mode: 0o700 }),
    mkdir(join(folder, 'logs'), { recursive: true, mode: 0o700 }),
  ]);
  return {
    folder,
    pki: files,
    ports,
    workloads: options.workloads ?? true,
    apiServerFlags: options.apiServerFlags ?? [],
  };
}

function checkVersion(result: { readonly text: string }, wanted: string | undefined): string {
  const { gitVersion } = JSON.parse(result.text) as { gitVersion: string };
  const actual = gitVersion.replace(/^v/, '');
  const requested = wanted?.replace(/^v/, '');
  if (requested !== undefined && actual !== requested && !actual.startsWith(`${requested}.`)) {
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_VERSION',
      `Kubernetes ${requested} was requested but the binaries are ${gitVersion}; set KUBEBUILDER_ASSETS to a folder with ${requested}, or omit the version`,
    );
  }
  return gitVersion;
}

/**
 * untilControllersReady waits for the objects that pods in the default namespace need, which also shows that the controllers run.
 */
async function untilControllersReady(
  access: Pick<ControlPlane, 'kubeconfig'>,
  options: KubernetesOptions,
): Promise<void> {
  await using client = await connectClient(await access.kubeconfig('admin'));
  const timeout = AbortSignal.timeout(options.readyTimeoutMs ?? 60_000);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    await untilExists(client, ServiceAccount, { namespace: 'default', name: 'default' }, signal);
    await untilExists(client, ConfigMap, { namespace: 'default', name: 'kube-root-ca.crt' }, signal);
  } catch (cause) {
    if (!timeout.aborted) throw cause;
    throw new BowlineError(
      'BOWLINE_CONTROL_PLANE_COMPONENT',
      'kube-controller-manager did not create the default ServiceAccount and kube-root-ca.crt in time; start again, on a busy machine with a longer readyTimeoutMs',
      { cause },
    );
  }
}
