import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Cluster, cluster } from '@bowline/control-plane/testing';
import { ConfigMap, PersistentVolume, PersistentVolumeClaim, Pod, type PolicyRule, Secret } from '@bowline/kubernetes';
import { Event } from '@bowline/kubernetes/events-v1';
import { applyDefaults } from '@bowline/machinery/schema';
import { expect, onTestFinished } from 'vitest';
import type { RepositoryFiles, ServedRepository } from '../../../../test/support/git/git-repositories.ts';
import { type GitServer, type GitServerOptions, startGitServer } from '../../../../test/support/git/git-server.ts';
import { agentRules } from '../agent-access/agent-role.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { objectNames, POD_ANNOTATIONS } from '../api/names.ts';
import { minimal, type Spec } from '../api/specs.test-support.ts';
import { type Config, config } from '../config.ts';
import { injectAgent } from '../injection/inject-agent.ts';
import { freePort } from '../local/plant/trial-state.ts';
import { type PreparedSidecar, prepareSidecar } from '../local/sidecar/prepare-sidecar.ts';
import { agentSettingsOf } from '../protocol/agent-settings.ts';
import { desiredHash } from '../protocol/desired-hash.ts';
import { decodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { encodeMetadata, type SyncMetadata } from '../protocol/metadata.ts';
import type { GatewayPlan } from '../protocol/rollout-plan.ts';
import { API_KEY } from '../simulated-gateway/gateway-folder.test-support.ts';
import { SimulatedGateway, type SimulatedGatewayOptions } from '../simulated-gateway/simulated-gateway.ts';
import { type AgentProcess, type AgentProcessOptions, type LogLine, startAgent } from './agent-process.test-support.ts';

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
  /** The folder with the objects of Git of the pod's agent. */
  readonly repoFolder: string;
  readonly folder: string;
  readonly gateway: SimulatedGateway;
  /** The lines that agents have logged and this process has read. */
  readonly lines: readonly LogLine[];
  commit(files: RepositoryFiles): Promise<string>;
  /** publish writes the metadata ConfigMap as the controller would, and returns the hash of the desired state. */
  publish(commit: string, changes?: Publication): Promise<string | undefined>;
  /**
   * start runs the agent of a pod as a process, with the command line of its container. A pod that does not exist is
   * created, with an agent.
   */
  start(options?: AgentStart): Promise<AgentProcess>;
  report(): Promise<GatewayReport | undefined>;
  /** untilReport waits for a report of the gateway, or of another key. */
  untilReport(test: (report: GatewayReport) => boolean, key?: string): Promise<GatewayReport>;
  untilEvent(reason: string): Promise<Event>;
  /** untilLine waits for a line in the log of an agent. */
  untilLine(test: (line: LogLine) => boolean): Promise<LogLine>;
  /** place writes a live file. */
  place(path: string, content: string): Promise<void>;
  /** files returns the live files, without those that the gateway rewrites. Defaults to those of the rig's data folder. */
  files(folder?: string): Promise<Record<string, string>>;
  /** annotate sets the annotations of the pod that concern its agent. */
  annotate(annotations: Readonly<Record<string, string>>): Promise<void>;
  /** calls returns the calls that the gateway answered, as `METHOD path status`. */
  calls(): Promise<string[]>;
}

/** AgentStart configures an agent. */
export interface AgentStart extends Omit<AgentProcessOptions, 'onLine'> {
  /** Defaults to POD. */
  readonly pod?: string;
  /** What the ServiceAccount of a pod that does not exist may do. Defaults to the permissions of agents. */
  readonly rules?: readonly PolicyRule[] | undefined;
  /** The data folder of a pod that does not exist. Defaults to that of the rig. */
  readonly dataFolder?: string | undefined;
}

/** AgentRigOptions configures a rig. */
export interface AgentRigOptions {
  readonly gitServer?: GitServerOptions;
  readonly gateway?: Partial<SimulatedGatewayOptions>;
  /** Fields of the IgnitionSync that the agent is injected for. Defaults to none. */
  readonly spec?: Partial<Spec>;
  /** Secrets that the agent mounts, besides the API key and the token. Defaults to none. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Whether the account of the pod has the permissions of agents. Defaults to true. */
  readonly isBound?: boolean;
}

const defaults = applyDefaults({}, config.json) as Config;

/** agentRig creates everything around an agent. Nothing runs but the Git server. */
export async function agentRig(options: AgentRigOptions = {}): Promise<AgentRig> {
  const c = await cluster({ prefix: 'agent' });
  const git = await startGitServer({ plain: true, ...options.gitServer });
  const repository = await git.repositories.create('plant.git');
  const folder = await mkdtemp(join(tmpdir(), 'bowline-agent-'));
  const dataFolder = join(folder, 'data');
  await mkdir(dataFolder);
  const { namespace } = c;
  const names = objectNames(CR);
  const port = await freePort();
  const repo = `${git.url}/plant.git`;
  const { auth } = options.gitServer ?? {};
  const spec = minimal({
    git: { repo, ref: 'main', ...(auth ? { auth: { token: { secretRef: { name: 'git', key: 'token' } } } } : {}) },
    gateway: { apiKeySecretRef: { name: 'api-key', key: 'key' }, port, tls: false },
    ...options.spec,
  });
  const secrets = {
    'api-key': { key: API_KEY },
    ...(auth ? { git: { token: auth.password } } : {}),
    ...options.secrets,
  };
  for (const [name, stringData] of Object.entries(secrets))
    await c.admin.create(Secret, { metadata: { namespace, name }, stringData });
  for (const name of [names.status, names.changes]) await c.admin.create(ConfigMap, { metadata: { namespace, name } });
  const volume = spec.storage === undefined ? undefined : await staticClaim(c, join(folder, 'shared'));
  // A controller creates it, and agents mount it.
  await c.until(ConfigMap, { name: 'kube-root-ca.crt' }, () => true);
  let annotations: Readonly<Record<string, string>> = { [POD_ANNOTATIONS.servicePath]: 'services/site' };
  const sidecars = new Map<string, PreparedSidecar>();
  const sidecarOf = async (name: string, given: Pick<AgentStart, 'rules' | 'dataFolder'>): Promise<PreparedSidecar> => {
    const account = await c.serviceAccount({ rules: [...(given.rules ?? agentRules(CR))] });
    const placed = { namespace, name, annotations, account: account.name };
    const pod = podOf({ ...placed, dataFolder: given.dataFolder ?? dataFolder, spec });
    const sidecar = await prepareSidecar({
      pod: await c.admin.create(Pod, pod),
      folder: join(folder, name),
      client: c.admin,
      kubeconfigFor: async (identity) => JSON.stringify(await c.kubeconfig(identity)),
      // Processes share the ports of the machine. Everything else is the command line of the container.
      flags: { 'health-address': '127.0.0.1:0', 'metrics-address': '127.0.0.1:0', 'log-level': 'debug' },
    });
    sidecars.set(name, sidecar);
    return sidecar;
  };
  const own = await sidecarOf(POD, options.isBound === false ? { rules: [] } : {});
  const gateway = new SimulatedGateway({
    port,
    dataFolder,
    apiKeyFile: join(folder, POD, 'ignition-sync-api-key', 'api-key'),
    journalFile: join(folder, 'journal'),
    tls: false,
    ...options.gateway,
  });
  const lines: LogLine[] = [];
  const agents = new Set<AgentProcess>();
  let published: ConfigMap | undefined;
  const decode = (
    data: Readonly<Record<string, string>> | undefined,
    reporting = GATEWAY,
  ): GatewayReport | undefined =>
    data?.[reporting] === undefined ? undefined : decodeReport(reporting, data[reporting]);
  const rig: AgentRig = {
    ...{ c, git, repository, dataFolder, folder, gateway, lines },
    repoFolder: volume ?? join(folder, POD, 'ignition-sync-repo'),
    commit: (files) => repository.commit(files),
    async publish(commit, changes = {}) {
      const metadata = metadataOf(commit, changes, { url: repo, port });
      const data = encodeMetadata(metadata);
      const key = { namespace, name: names.metadata };
      published = published
        ? await c.admin.patch(ConfigMap, key, { type: 'merge', body: { data } })
        : await c.admin.create(ConfigMap, { metadata: key, data });
      return desiredHash(metadata, POD);
    },
    async start({ pod = POD, rules, dataFolder: folderOfPod, ...others } = {}) {
      const sidecar = sidecars.get(pod) ?? (await sidecarOf(pod, { rules, dataFolder: folderOfPod }));
      const agent = await startAgent(sidecar, { ...others, onLine: (line) => lines.push(line) });
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
    async untilLine(test) {
      await expect.poll(() => lines.some(test)).toBe(true);
      return lines.find(test) as LogLine;
    },
    async place(file, content) {
      await mkdir(dirname(join(dataFolder, file)), { recursive: true });
      await writeFile(join(dataFolder, file), content);
    },
    files: (of = dataFolder) => filesIn(of),
    async annotate(changed) {
      const removed = Object.fromEntries(Object.keys(annotations).map((name) => [name, null]));
      annotations = changed;
      const body = { metadata: { annotations: { ...removed, ...changed } } };
      await own.refresh(await c.admin.patch(Pod, { namespace, name: POD }, { type: 'merge', body }));
    },
    async calls() {
      await gateway.idle();
      const text = await readFile(join(folder, 'journal'), 'utf8').catch(() => '');
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ type }) => type === 'call')
        .map(({ method, path: called, status }) => `${method} ${called} ${status}`);
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents) await agent.stop();
      await gateway.stop();
      await git[Symbol.asyncDispose]();
      await c[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
  onTestFinished(() => rig[Symbol.asyncDispose]());
  return rig;
}

/** staticClaim creates the claim that the controller would create, bound to a volume that an administrator created. */
async function staticClaim(
  { admin, namespace, onDispose, uniqueName, until }: Cluster,
  folder: string,
): Promise<string> {
  const name = uniqueName('static');
  const { claim } = objectNames(CR);
  await mkdir(folder);
  const terms = { storageClassName: name, accessModes: ['ReadWriteMany'] } as const;
  await admin.create(PersistentVolume, {
    metadata: { name },
    spec: { ...terms, capacity: { storage: '1Gi' }, hostPath: { path: folder } },
  });
  onDispose(() => admin.delete(PersistentVolume, { name }));
  await admin.create(PersistentVolumeClaim, {
    metadata: { namespace, name: claim },
    spec: { ...terms, resources: { requests: { storage: '1Gi' } } },
  });
  await until(PersistentVolumeClaim, { name: claim }, ({ status }) => status?.phase === 'Bound');
  return folder;
}

interface RigPod {
  readonly namespace: string;
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly account: string;
  readonly dataFolder: string;
  readonly spec: Spec;
}

/** podOf returns the pod of a gateway as the injection webhook changes it. */
function podOf({ namespace, name, annotations, account, dataFolder, spec }: RigPod): Pod {
  const requested: Pod = {
    metadata: {
      namespace,
      name,
      annotations: { [POD_ANNOTATIONS.inject]: 'true', ...annotations },
      labels: { 'app.kubernetes.io/name': GATEWAY },
    },
    spec: {
      serviceAccountName: account,
      securityContext: { runAsUser: 2003 },
      containers: [
        {
          name: 'gateway',
          image: 'example.com/ignition:8.3',
          volumeMounts: [{ name: 'data', mountPath: '/ignition/data' }],
        },
      ],
      volumes: [{ name: 'data', hostPath: { path: dataFolder } }],
    },
  };
  const sync = IgnitionSync.withDefaults({ metadata: { namespace, name: CR }, spec });
  const injection = injectAgent(requested, {
    syncs: [sync],
    untrusted: undefined,
    config: defaults,
    image: 'example.com/bowline:1',
  });
  if (injection.result !== 'injected') throw new TypeError(`the pod is ${injection.result}`);
  return injection.pod;
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
