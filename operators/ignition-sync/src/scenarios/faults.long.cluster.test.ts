import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeconfigDocument } from '@bowline/control-plane';
import { sharedControlPlane } from '@bowline/control-plane/testing';
import { ConfigMap, Pod } from '@bowline/kubernetes';
import { forEachConcurrently, systemClock } from '@bowline/machinery';
import {
  type Client,
  type ConnectionConfig,
  connect,
  connectionFrom,
  createClient,
  parseKubeconfig,
} from '@bowline/runtime/client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { acceleratedClock } from '../../../../test/support/fault-proxy/accelerated-clock.ts';
import { Endpoint } from '../../../../test/support/fault-proxy/endpoint.ts';
import { FaultProxy } from '../../../../test/support/fault-proxy/fault-proxy.ts';
import { availableGit } from '../../../../test/support/git/git-program.ts';
import { objectNames } from '../api/names.ts';
import { decodeReport } from '../protocol/gateway-report.ts';
import type { Load } from '../simulated-gateway/folder-scans.ts';
import { loadProjects } from '../simulated-gateway/load-folder.ts';
import type { SimulatedGateway } from '../simulated-gateway/simulated-gateway.ts';
import { CR, type SidecarScenario, type StartedSidecar, startSidecarScenario } from './sidecar.test-support.ts';

/** How much faster time passes for the manager and agents: a backoff of 30 s takes 3 s. */
const SPEED = 10;
const PODS = Array.from({ length: 10 }, (_, index) => `site-${index}`);
const MANAGER = 'manager';
/** The gateway whose scan fails, and the one that is stopped. */
const [FAILING, STOPPED] = ['site-3', 'site-7'] as const;
/** The gateways whose volumes are full: one has no bytes left, the other one no inodes. */
const [NO_BYTES, NO_INODES] = ['site-5', 'site-9'] as const;
/** Fewer than the gateways: a fault occurs while some have the new commit and others do not. */
const MAX_PARALLEL = 3;
const MAX_STARTING = 3;
const PROBE_INTERVAL_MS = 1_000;
/** A volume with more than the 64 MiB that a sync leaves to the gateway. */
const ENOUGH = 'size=128m,nr_inodes=10k';
const VIEWS = 10;
const SERVICE = 'services/site/';

const git = await availableGit();
const canMount = await withFolder(async (folder) => {
  await mount('-t', 'tmpfs', 'tmpfs', folder);
  await run('umount', [folder]);
}).then(
  () => true,
  () => false,
);

interface Plant {
  readonly agent: StartedSidecar;
  readonly gateway: SimulatedGateway;
  readonly journalFile: string;
}

describe.skipIf('skippedBecause' in git)('a rollout over ten gateways', () => {
  let proxy: FaultProxy;
  let manager: Client;
  let repository: Endpoint;
  let c: SidecarScenario;
  let folder: string;
  const plants = new Map<string, Plant>();
  /** The hash of the projects of each version that was pushed. */
  const hashes: string[] = [];
  /** What probes of agents returned after their gateways had started, unless it was 200. */
  const failedProbes: string[] = [];
  let before: readonly unknown[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bowline-faults-'));
    const direct = await sharedControlPlane();
    const kubeconfig = await parseKubeconfig(JSON.stringify(await direct.kubeconfig('admin')), 'admin');
    proxy = await FaultProxy.start({ upstream: connectionFrom(kubeconfig) });
    const connection = await proxy.connection(MANAGER);
    const clock = acceleratedClock(SPEED);
    let issued = '';
    c = await startSidecarScenario({
      replicas: PODS.length,
      files: filesAt(1),
      spec: async ({ git: server }) => {
        repository = await Endpoint.open('git', Number(new URL(server.url).port));
        return {
          git: { repo: `http://127.0.0.1:${repository.port}/plant.git` },
          deployment: { maxParallel: MAX_PARALLEL },
        };
      },
      reroute: async (document, pod) => through(await proxy.connection(pod), document),
      nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(`(${accelerate})(${SPEED})`)}`],
      // The operator uses the proxy; its token is captured where it is issued.
      controlPlane: {
        kind: direct.kind,
        url: direct.url,
        version: direct.version,
        audit: (since) => direct.audit(since),
        kubeconfig: async (identity) => {
          const document = await direct.kubeconfig(identity);
          const [{ user }] = document.users;
          if ('token' in user) issued = user.token;
          return document;
        },
      },
      wrapClient: () => {
        const authorization = `Bearer ${issued}`;
        const credentials = { headers: () => ({ authorization }), refresh: () => Promise.resolve(false) };
        manager = createClient({ transport: connect({ ...connection, credentials }), clock });
        return manager;
      },
      clock,
      // On this clock, the Lease would be lost after a second without API server, and the process would end.
      leaderElection: false,
    });
    hashes.push(await hashOf(1));
    const failures = await forEachConcurrently(PODS, MAX_STARTING, async (pod) => plants.set(pod, await start(pod)));
    expect(failures).toEqual([]);
    await c.untilSynced(await c.repository.git('rev-parse', 'main'));
    before = await readiness();
  });
  afterAll(async () => {
    await c[Symbol.asyncDispose]();
    await manager.close();
    await proxy.close();
    await repository.down();
    await rm(folder, { recursive: true, force: true });
  });

  /** start starts an agent, and its gateway when its startup probe passes, as a kubelet does. */
  async function start(pod: string): Promise<Plant> {
    const agent = await c.start(pod, async ({ dataFolder }) => {
      if (!canMount || (pod !== NO_BYTES && pod !== NO_INODES)) return;
      await mount('-t', 'tmpfs', '-o', ENOUGH, 'tmpfs', dataFolder);
      c.onDispose(() => run('umount', [dataFolder]));
    });
    c.onDispose(async () => await agent[Symbol.asyncDispose]());
    await vi.waitFor(async () => expect(await agent.probe('/startupz')).toBe(200), { timeout: 60_000, interval: 50 });
    const journalFile = join(folder, `${pod}.journal`);
    const gateway = agent.gateway({ journalFile });
    c.onDispose(() => gateway.stop());
    await gateway.start();
    const end = new AbortController();
    const probing = keepProbing(agent, (failed) => failedProbes.push(`${pod} ${failed}`), end.signal);
    c.onDispose(async () => {
      end.abort();
      await probing;
    });
    return { agent, gateway, journalFile };
  }

  /** hashOf returns the hash of the projects of a version, as a gateway that has loaded it computes it. */
  async function hashOf(version: number): Promise<string> {
    const state = join(folder, `version-${version}`);
    for (const [path, content] of Object.entries(filesAt(version))) {
      const file = join(state, path.slice(SERVICE.length));
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    return (await loadProjects(state)).hash;
  }

  /** push pushes the next version: it changes every view, adds a resource and deletes one. */
  async function push(): Promise<string> {
    const version = hashes.length + 1;
    const deleted = Object.keys(filesAt(version - 1)).map((path) => [path, null] as const);
    hashes.push(await hashOf(version));
    return await c.push({ ...Object.fromEntries(deleted), ...filesAt(version) });
  }

  /** untilConverged waits until every gateway has a commit, without another push, and its files are those of the commit. */
  async function untilConverged(commit: string): Promise<void> {
    await c.untilSynced(commit);
    for (const [pod, { agent, gateway }] of plants) {
      // A scan may take longer than the agent waits for it.
      await gateway.idle();
      expect((await loadProjects(agent.sidecar.dataFolder)).hash, pod).toBe(hashes.at(-1));
    }
  }

  /** untilFailed waits until the given gateways report their errors, and all others have a commit. */
  async function untilFailed(commit: string, failed: Readonly<Record<string, string>>): Promise<void> {
    const expected = Object.fromEntries(PODS.map((pod) => [pod, failed[pod] ?? commit]));
    await expect.poll(states, { timeout: 60_000, interval: 200 }).toEqual(expected);
  }

  /** states returns the error or the commit of each gateway. */
  async function states(): Promise<Readonly<Record<string, string | undefined>>> {
    const { data = {} } = await c.admin.get(ConfigMap, c.key(objectNames(CR).status));
    const reports = Object.entries(data).map(([pod, text]) => [pod, decodeReport(pod, text)] as const);
    return Object.fromEntries(
      reports.map(([pod, { errorReason, syncedCommit }]) => [pod, errorReason ?? syncedCommit]),
    );
  }

  /** readiness returns since when which pods are ready, and how often their containers were restarted. */
  async function readiness(): Promise<readonly unknown[]> {
    const { items } = await c.admin.list(Pod, { namespace: c.namespace });
    return items.map(({ metadata, status }) => ({
      name: metadata?.name,
      uid: metadata?.uid,
      ready: status?.conditions?.find(({ type }) => type === 'Ready'),
      restarts: [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].map(
        ({ restartCount }) => restartCount,
      ),
    }));
  }

  function plantOf(pod: string): Plant {
    const plant = plants.get(pod);
    if (plant === undefined) throw new TypeError(`the gateway ${pod} was not started`);
    return plant;
  }

  it('scenario 18 completes after Git was stopped for the controller and failed for agents', async () => {
    await repository.down();
    const commit = await push();
    await c.untilCondition(CR, 'RepoCloned', { status: 'False', reason: 'CloneFailed' });
    await repository.up();
    await c.untilReport(({ syncedCommit }) => syncedCommit === commit);
    c.git.fault = { kind: 'status', status: 503 };
    await c.untilReport(({ errorReason }) => errorReason === 'HostUnreachable');
    c.git.fault = undefined;
    await untilConverged(commit);
  });

  it('scenario 18 completes after the API server dropped requests and responses of the manager and all agents', async () => {
    const commit = await push();
    await c.untilReport(({ syncedCommit }) => syncedCommit === commit);
    proxy.schedule = ({ number }) => ({ kind: 'drop', when: number % 2 === 0 ? 'before' : 'answer' });
    for (const name of [MANAGER, ...PODS]) (await proxy.endpoint(name)).reset();
    const affected = () => new Set(proxy.injected.map(({ request }) => request.client));
    await expect.poll(affected).toEqual(new Set([MANAGER, ...PODS]));
    expect(Object.values(await states()).every((state) => state === commit)).toBe(false);
    proxy.schedule = () => undefined;
    await untilConverged(commit);
  });

  it('scenario 18 completes after a gateway was stopped and another one failed during its scan', async () => {
    await plantOf(FAILING).gateway.change({
      responses: [{ path: '/data/api/v1/scan/config', method: 'POST', status: 500 }],
    });
    await plantOf(STOPPED).gateway.change({ refuseConnections: true });
    const commit = await push();
    await untilFailed(commit, { [FAILING]: 'ScanFailed', [STOPPED]: 'ScanFailed' });
    await plantOf(FAILING).gateway.change({ responses: [] });
    await plantOf(STOPPED).gateway.change({ refuseConnections: false });
    await untilConverged(commit);
  });

  it.skipIf(!canMount)('scenario 18 completes after the volumes of two gateways were full', async () => {
    const folders = [NO_BYTES, NO_INODES].map((pod) => plantOf(pod).agent.sidecar.dataFolder);
    const [noBytes = '', noInodes = ''] = folders;
    const { blocks, bfree, bsize } = await statfs(noBytes);
    await mount('-o', `remount,size=${(blocks - bfree) * bsize}`, noBytes);
    const { files, ffree } = await statfs(noInodes);
    await mount('-o', `remount,nr_inodes=${files - ffree}`, noInodes);
    const commit = await push();
    await untilFailed(commit, { [NO_BYTES]: 'DiskFull', [NO_INODES]: 'DiskFull' });
    for (const full of folders) {
      expect((await loadProjects(full)).hash).toBe(hashes.at(-2));
      await mount('-o', `remount,${ENOUGH}`, full);
    }
    await untilConverged(commit);
  });

  it('scenario 18 has made no gateway unready, and has shown each every version completely', async () => {
    expect(failedProbes).toEqual([]);
    expect(await readiness()).toEqual(before);
    for (const [pod, { journalFile }] of plants) {
      const loads = await loadsIn(journalFile);
      expect(
        loads.flatMap(({ problems }) => problems),
        pod,
      ).toEqual([]);
      const projects = loads.filter(({ folder: loaded }) => loaded === 'projects').map(({ hash }) => hash);
      const versions = projects.filter((hash, index) => hash !== projects[index - 1]);
      expect(
        versions.map((hash) => hashes.indexOf(hash)),
        pod,
      ).toEqual([...hashes.keys()]);
    }
  });
});

function run(program: string, args: readonly string[]): Promise<unknown> {
  return promisify(execFile)(program, args);
}

function mount(...args: readonly string[]): Promise<unknown> {
  return run('mount', args);
}

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bowline-mount-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** filesAt returns all files of a version. */
function filesAt(version: number): Readonly<Record<string, string>> {
  const project = `${SERVICE}projects/overview`;
  const files: Record<string, string> = { [`${project}/project.json`]: '{"title": "Overview"}' };
  for (const name of [`only-in-${version}`, ...Array.from({ length: VIEWS }, (_, index) => `view-${index}`)]) {
    files[`${project}/${name}/resource.json`] = '{"files": ["view.json"]}';
    files[`${project}/${name}/view.json`] = JSON.stringify({ version });
  }
  return files;
}

/** through returns a kubeconfig with the same credentials for another connection. */
function through({ server, ca }: ConnectionConfig, document: KubeconfigDocument): KubeconfigDocument {
  const [{ name }] = document.clusters;
  const cluster = { server, 'certificate-authority-data': Buffer.from(String(ca)).toString('base64') };
  return { ...document, clusters: [{ name, cluster }] };
}

/** accelerate makes time pass faster in the process of an agent, where it runs before the program. */
function accelerate(factor: number): void {
  const { setTimeout: wait } = globalThis;
  const now = performance.now.bind(performance);
  performance.now = () => now() * factor;
  const faster = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => wait(work, ms / factor, ...args);
  globalThis.setTimeout = Object.assign(faster, wait);
}

/** keepProbing probes an agent as a kubelet does, until the signal is aborted. */
async function keepProbing(
  agent: Pick<StartedSidecar, 'probe'>,
  onFailure: (failed: string) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const path of ['/startupz', '/readyz', '/healthz']) {
      const status = await agent.probe(path);
      if (status !== 200 && !signal.aborted) onFailure(`${path} ${status}`);
    }
    await systemClock.sleep(PROBE_INTERVAL_MS, signal).catch(() => undefined);
  }
}

async function loadsIn(journalFile: string): Promise<readonly Load[]> {
  const lines = (await readFile(journalFile, 'utf8')).split('\n').filter(Boolean);
  const entries = lines.map((line) => JSON.parse(line) as Load & { readonly type: string });
  return entries.filter(({ type }) => type === 'load');
}
