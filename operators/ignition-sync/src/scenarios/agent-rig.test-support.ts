import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, Pod } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { type Clock, VirtualClock } from '@bowline/machinery';
import { applyDefaults } from '@bowline/machinery/schema';
import { createLog } from '@bowline/runtime/manager';
import { onTestFinished } from 'vitest';
import type { RepositoryFiles, ServedRepository } from '../../../../test/support/git/git-repositories.ts';
import { type GitServer, type GitServerOptions, startGitServer } from '../../../../test/support/git/git-server.ts';
import { type AgentContext, type AgentOptions, runAgent } from '../agent/run-agent.ts';
import { agentRules } from '../agent-access/agent-role.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { objectNames, POD_ANNOTATIONS } from '../api/names.ts';
import { minimal, type Spec } from '../api/specs.test-support.ts';
import { type Config, config } from '../config.ts';
import { agentSettingsOf } from '../protocol/agent-settings.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import { decodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { encodeMetadata, type SyncMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { API_KEY } from '../simulated-gateway/gateway-folder.test-support.ts';
import { SimulatedGateway, type SimulatedGatewayOptions } from '../simulated-gateway/simulated-gateway.ts';

/** CR is the name of the IgnitionSync, POD that of the pod and GATEWAY that of its gateway. */
export const CR = 'plant';
export const POD = 'site-0';
export const GATEWAY = 'site';

/** FIRST is the first commit of the repository: two projects and one file of config. */
export const FIRST: RepositoryFiles = {
  'services/site/projects/overview/project.json': '{"title": "Overview"}',
  'services/site/projects/overview/view/resource.json': '{"files": ["view.json"]}',
  'services/site/projects/overview/view/view.json': '{"version": 1}',
  'services/site/projects/line-1/project.json': '{"title": "Line 1"}',
  'services/site/config/resources/core/ignition/system-properties/config.json': '{"systemName": "template"}',
};

/** Changes of the metadata ConfigMap. `spec` are fields of the IgnitionSync. */
export interface Publication {
  readonly spec?: Partial<Spec>;
  readonly plan?: Partial<GatewayPlan> | null;
  readonly metadata?: Partial<SyncMetadata>;
}

/** AgentRig is a gateway with its agent, its repository and the part of a cluster that the controller would write. */
export interface AgentRig extends AsyncDisposable {
  readonly c: Cluster;
  readonly git: GitServer;
  readonly repository: ServedRepository;
  readonly dataFolder: string;
  readonly folder: string;
  readonly gateway: SimulatedGateway;
  readonly options: AgentOptions;
  /** The lines that agents of this process have logged. */
  readonly lines: Record<string, unknown>[];
  readonly account: { readonly namespace: string; readonly name: string };
  commit(files: RepositoryFiles): Promise<string>;
  /** publish writes the metadata ConfigMap as the controller would, and returns the hash of the desired state. */
  publish(commit: string, changes?: Publication): Promise<string | undefined>;
  /** start runs an agent in this process. */
  start(context?: Partial<AgentContext>, changes?: Partial<AgentOptions>): Promise<RunningAgent>;
  report(): Promise<GatewayReport | undefined>;
  /** untilReport waits for a report of the gateway, or of another key. */
  untilReport(test: (report: GatewayReport) => boolean, key?: string): Promise<GatewayReport>;
  untilEvent(reason: string): Promise<Event>;
  /** place writes a live file. */
  place(path: string, content: string): Promise<void>;
  /** files returns the live files, without those that the gateway rewrites. */
  files(): Promise<Record<string, string>>;
  /** annotate sets the annotations of the pod, as the kubelet writes them. */
  annotate(annotations: Readonly<Record<string, string>>): Promise<void>;
  /** calls returns the calls that the gateway answered, as `METHOD path status`. */
  calls(): Promise<string[]>;
}

/** RunningAgent is an agent in this process. Disposing of it stops it. */
export interface RunningAgent extends AsyncDisposable {
  readonly healthPort: number;
  readonly metricsPort: number;
  probe(path: string): Promise<number>;
  metric(line: string): Promise<string>;
  stop(): Promise<void>;
}

/** AgentRigOptions configures a rig. */
export interface AgentRigOptions {
  readonly gitServer?: GitServerOptions;
  readonly gateway?: Partial<SimulatedGatewayOptions>;
  /** Whether the account of the pod has the permissions of agents. Defaults to true. */
  readonly isBound?: boolean;
}

const defaults = applyDefaults({}, config.json) as Config;

/** agentRig creates everything around an agent. Nothing runs but the Git server. */
export async function agentRig(options: AgentRigOptions = {}): Promise<AgentRig> {
  const c = await cluster();
  const git = await startGitServer({ plain: true, ...options.gitServer });
  const repository = await git.repositories.create('plant.git');
  const folder = await mkdtemp(join(tmpdir(), 'bowline-agent-'));
  const dataFolder = join(folder, 'data');
  const path = (name: string): string => join(folder, name);
  for (const name of ['data', 'pod-info', 'scratch']) await mkdir(path(name));
  await writeFile(path('api-key'), `${API_KEY}\n`);
  if (options.gitServer?.auth) await writeFile(path('token'), options.gitServer.auth.password);
  await writeFile(path('ca.crt'), git.ca);
  const names = objectNames(CR);
  const { namespace } = c;
  for (const name of [names.status, names.changes]) await c.admin.create(ConfigMap, { metadata: { namespace, name } });
  const account = await c.serviceAccount({ rules: options.isBound === false ? [] : agentRules(CR) });
  await c.admin.create(Pod, {
    metadata: { namespace, name: POD },
    spec: { serviceAccountName: account.name, containers: [{ name: 'gateway', image: 'example.com/ignition:8.3' }] },
  });
  const port = await freePort();
  const gateway = new SimulatedGateway({
    port,
    dataFolder,
    apiKeyFile: path('api-key'),
    journalFile: path('journal'),
    tls: false,
    ...options.gateway,
  });
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  const agentOptions: AgentOptions = {
    cr: CR,
    podName: POD,
    podNamespace: namespace,
    gatewayName: GATEWAY,
    repo: `${git.url}/plant.git`,
    dataFolder,
    repoFolder: path('repo'),
    scratchFolder: path('scratch'),
    apiKeyFile: path('api-key'),
    ...(options.gitServer?.auth ? { gitTokenFile: path('token') } : {}),
    caFile: path('ca.crt'),
    gatewayPort: port,
    gatewayTls: false,
    syncPeriod: 30,
    podInfoFolder: path('pod-info'),
    healthAddress: '127.0.0.1:0',
    metricsAddress: '127.0.0.1:0',
  };
  const agents = new Set<RunningAgent>();
  const annotate = async (annotations: Readonly<Record<string, string>>): Promise<void> => {
    const text = Object.entries(annotations).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    await writeFile(path('pod-info/annotations'), text.join('\n'));
  };
  await annotate({ [POD_ANNOTATIONS.servicePath]: 'services/site' });
  let published: ConfigMap | undefined;
  const decode = (
    data: Readonly<Record<string, string>> | undefined,
    reporting = GATEWAY,
  ): GatewayReport | undefined =>
    data?.[reporting] === undefined ? undefined : decodeReport(reporting, data[reporting]);
  const rig: AgentRig = {
    ...{ c, git, repository, dataFolder, folder, gateway, options: agentOptions, lines, annotate },
    account: { namespace, name: account.name },
    commit: (files) => repository.commit(files),
    async publish(commit, changes = {}) {
      const metadata = metadataOf(commit, changes, { url: agentOptions.repo, port });
      const data = encodeMetadata(metadata);
      const key = { namespace, name: names.metadata };
      published = published
        ? await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data } })
        : await c.admin.create(ConfigMap, { metadata: key, data });
      return desiredHash(metadata, POD);
    },
    async start(context = {}, changes = {}) {
      const client = await c.clientFor({ serviceAccount: rig.account, pod: POD });
      const stop = new AbortController();
      let ports = { health: 0, metrics: 0 };
      let running: Promise<void> = Promise.resolve();
      await new Promise<void>((resolve, reject) => {
        const onListening: AgentContext['onListening'] = ({ health = 0, metrics = 0 }) => {
          ports = { health, metrics };
          resolve();
        };
        running = runAgent(
          { ...agentOptions, ...changes },
          { client, log, signal: stop.signal, onListening, ...context },
        );
        running.catch(reject);
      });
      const stopAgent = async (): Promise<void> => {
        stop.abort();
        // What the agent still does may wait for its clock.
        const { clock } = context;
        await (clock instanceof VirtualClock ? advancing(clock, running) : running);
      };
      const agent: RunningAgent = {
        healthPort: ports.health,
        metricsPort: ports.metrics,
        probe: async (probed) => (await fetch(`http://127.0.0.1:${ports.health}${probed}`)).status,
        metric: async (line) => {
          const text = await (await fetch(`http://127.0.0.1:${ports.metrics}/metrics`)).text();
          return text.split('\n').find((each) => each.startsWith(line)) ?? '';
        },
        stop: stopAgent,
        [Symbol.asyncDispose]: async () => {
          agents.delete(agent);
          await stopAgent();
        },
      };
      agents.add(agent);
      return agent;
    },
    async report() {
      const { data } = await c.admin.get(ConfigMap, { namespace, name: names.status });
      return decode(data);
    },
    async untilReport(test, key) {
      const found = await c.until(ConfigMap, { namespace, name: names.status }, ({ data }) => {
        const report = decode(data, key);
        return report !== undefined && test(report);
      });
      return decode(found.data, key) as GatewayReport;
    },
    async untilEvent(reason) {
      const [event] = await c
        .untilList(Event, { namespace }, (items) => items.some((each) => each.reason === reason))
        .then((items) => items.filter((each) => each.reason === reason));
      return event as Event;
    },
    async place(file, content) {
      await mkdir(dirname(join(dataFolder, file)), { recursive: true });
      await writeFile(join(dataFolder, file), content);
    },
    files: () => filesIn(dataFolder),
    async calls() {
      await gateway.idle();
      const text = await readFile(path('journal'), 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ type }) => type === 'call')
        .map(({ method, path: called, status }) => `${method} ${called} ${status}`);
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) await agent[Symbol.asyncDispose]();
      await gateway.stop();
      await git[Symbol.asyncDispose]();
      await c[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
  onTestFinished(() => rig[Symbol.asyncDispose]());
  return rig;
}

function metadataOf(
  commit: string,
  { spec: changes = {}, plan, metadata }: Publication,
  { url, port }: { readonly url: string; readonly port: number },
): SyncMetadata {
  const { spec } = IgnitionSync.withDefaults({ metadata: { name: CR }, spec: minimal(changes) });
  return {
    commit,
    ref: 'main',
    trigger: '',
    gitURL: url,
    authType: 'none',
    knownHosts: '',
    paused: spec.paused,
    gatewayPort: port,
    gatewayTLS: false,
    excludePatterns: spec.excludePatterns,
    settings: agentSettingsOf(spec, defaults),
    profiles: {},
    plan: plan === null ? {} : { [POD]: { name: GATEWAY, key: GATEWAY, commit, ref: 'main', ...plan } },
    rollback: spec.rollback,
    crUID: '7e6c9e3e-8f0a-4a57-9f7e-2f6f3f1f0a11',
    ...metadata,
  };
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name).slice(folder.length + 1);
    if (entry.isFile() && /^(?:projects|config)\//.test(path) && !/security-properties|resource\.json$/.test(path))
      files[path] = await readFile(join(folder, path), 'utf8');
  }
  return files;
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * advancing advances a clock by steps until a promise settles, while real work takes place. The work needs the pauses: a time limit
 * on the clock must not pass before a git process had the chance to end.
 */
export async function advancing<T>(clock: VirtualClock, work: Promise<T>, stepMs = 1_000): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => undefined);
  while (!isDone) {
    await clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return await done;
}

/** virtualTime returns a clock for an agent whose timers a test controls. */
export function virtualTime(): { readonly clock: VirtualClock; readonly context: { readonly clock: Clock } } {
  const clock = new VirtualClock();
  return { clock, context: { clock } };
}
