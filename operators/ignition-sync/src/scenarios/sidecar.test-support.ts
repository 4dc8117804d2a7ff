import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeconfigDocument } from '@bowline/control-plane';
import type { Cluster, ClusterOptions, OperatorsOptions } from '@bowline/control-plane/testing';
import { ConfigMap, Pod, StatefulSet } from '@bowline/kubernetes';
import { systemClock } from '@bowline/machinery';
import { findCondition } from '@bowline/runtime';
import { bundledProgram } from '../../../../test/support/bundled-program.ts';
import type { RepositoryFiles } from '../../../../test/support/git/git-repositories.ts';
import type { GitServerOptions } from '../../../../test/support/git/git-server.ts';
import { IgnitionSync } from '../api/ignition-sync.ts';
import { CR_ANNOTATIONS, objectNames } from '../api/names.ts';
import { freePort } from '../local/plant/trial-state.ts';
import { type RunningSidecar, runSidecar } from '../local/run-sidecar.ts';
import { type PreparedSidecar, prepareSidecar, type SidecarOptions } from '../local/sidecar/prepare-sidecar.ts';
import { decodeReport, type GatewayReport } from '../protocol/gateway-report.ts';
import { SimulatedGateway, type SimulatedGatewayOptions } from '../simulated-gateway/simulated-gateway.ts';
import { type AgentClock, CLOCK_START } from './agent-channel.test-support.ts';
import { AGENT_PROGRAM } from './agent-process.test-support.ts';
import { type ControllerScenario, type SpecChanges, startControllerScenario } from './controller.test-support.ts';

/** CR, POD and TOKEN are the IgnitionSync, the first pod of its gateways and the token for its repository. */
export const CR = 'plant';
export const POD = 'site-0';
export const TOKEN = 'canary-41d7';

/** FIRST are the files of the first commit. */
export const FIRST: RepositoryFiles = {
  'services/site/projects/overview/project.json': '{"title": "Overview"}',
  'services/site/projects/overview/views/resource.json': '{"files": ["view.json"]}',
  'services/site/projects/overview/views/view.json': '{"version": 1}',
};

/** SidecarScenarioOptions configures the operator, its IgnitionSync, and the agents. */
export interface SidecarScenarioOptions extends Partial<OperatorsOptions & ClusterOptions> {
  /** Options of the Git server. Defaults to none besides its authentication. */
  readonly gitServer?: GitServerOptions;
  /** The path of the repository on the server. Defaults to plant.git. */
  readonly repositoryPath?: string;
  /** The number of pods of the StatefulSet. Defaults to 1. */
  readonly replicas?: number;
  /** The first commit. Defaults to FIRST. */
  readonly files?: RepositoryFiles;
  /** Returns fields of the IgnitionSync. Defaults to none. */
  readonly spec?: (c: ControllerScenario) => Promise<SpecChanges>;
  /** Returns the kubeconfig that the agent of a pod uses instead of its own. Defaults to its own. */
  readonly reroute?: (kubeconfig: KubeconfigDocument, pod: string) => Promise<KubeconfigDocument>;
  /** Arguments of Node before the program of an agent. Defaults to none. */
  readonly nodeArgs?: readonly string[];
  /** The clock of the agents. Defaults to that of the system. */
  readonly agentClock?: AgentClock;
}

/** SidecarScenario is the operator as installed, a StatefulSet whose pods it injected, and the means to run their agents. */
export interface SidecarScenario extends ControllerScenario {
  /**
   * start runs the agent of a stored pod as a child process, with the command line of its container. `onPrepared` is
   * called before that, when its volumes exist. Defaults to POD and to nothing.
   */
  start(pod?: string, onPrepared?: (sidecar: PreparedSidecar) => Promise<void>): Promise<StartedSidecar>;
  /** push commits files and requests them as the receiver does. */
  push(files: RepositoryFiles): Promise<string>;
  /** untilSynced waits until every gateway has a commit. */
  untilSynced(commit: string): Promise<IgnitionSync>;
  /** untilReport waits for a report of any gateway. */
  untilReport(test: (report: GatewayReport, pod: string) => boolean): Promise<GatewayReport>;
}

/** StartedSidecar is a running agent and its folders. */
export interface StartedSidecar extends AsyncDisposable {
  readonly pod: Pod;
  readonly sidecar: PreparedSidecar;
  readonly running: RunningSidecar;
  /** gateway returns the gateway of the pod, which is not started. */
  gateway(options?: Pick<SimulatedGatewayOptions, 'journalFile'>): SimulatedGateway;
  /** probe returns the status of a probe of the agent; 0 if it does not respond. */
  probe(path: string): Promise<number>;
  read(path: string): Promise<string>;
}

/** startSidecarScenario starts the operator and creates an IgnitionSync and the StatefulSet of its gateways. */
export async function startSidecarScenario(options: SidecarScenarioOptions = {}): Promise<SidecarScenario> {
  const { replicas = 1, files = FIRST, spec, reroute, nodeArgs = [], agentClock, gitServer, ...others } = options;
  const c = await startControllerScenario({
    // Agents are processes with a clock of their own.
    clock: systemClock,
    config: { 'ignition-sync': { agentImage: 'example.com/bowline:1' } },
    ...others,
    gitServer: { plain: true, auth: { username: 'x-access-token', password: TOKEN }, ...gitServer },
  });
  const { namespace, admin } = c;
  const gatewayPort = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'bowline-pods-'));
  c.onDispose(() => rm(folder, { recursive: true, force: true }));
  await c.repository.commit(files, { fresh: true });
  await c.secret('git', { token: TOKEN, other: 'never mounted' });
  const { git, ...changes } = (await spec?.(c)) ?? {};
  await c.sync(CR, {
    git: { auth: { token: { secretRef: { name: 'git', key: 'token' } } }, ...git },
    gateway: { port: gatewayPort, apiKeySecretRef: { name: 'api-key', key: 'key' } },
    ...changes,
  });
  await admin.create(StatefulSet, statefulSet(namespace, replicas));
  const scenario: Omit<SidecarScenario, keyof ControllerScenario> = {
    start: (pod = POD, onPrepared = () => Promise.resolve()) =>
      start(c, { pod, onPrepared, folder, gatewayPort, reroute, nodeArgs, agentClock }),
    push: async (pushed) => {
      const commit = await c.repository.commit(pushed);
      const requestedAt = new Date(systemClock.now()).toISOString();
      await c.annotate(CR, { [CR_ANNOTATIONS.requestedCommit]: commit, [CR_ANNOTATIONS.requestedAt]: requestedAt });
      return commit;
    },
    untilSynced: (commit) =>
      c.until(IgnitionSync, c.key(CR), (sync) => {
        const gateways = sync.status?.discoveredGateways ?? [];
        const synced = gateways.filter((each) => each.syncedCommit === commit && each.syncStatus === 'Synced');
        return synced.length === replicas && findCondition(sync, 'Ready')?.status === 'True';
      }),
    untilReport: async (test) => {
      const find = ({ data = {} }: ConfigMap): GatewayReport | undefined =>
        Object.entries(data)
          .map(([pod, text]) => [decodeReport(pod, text), pod] as const)
          .find(([report, pod]) => test(report, pod))?.[0];
      const report = find(await c.until(ConfigMap, c.key(objectNames(CR).status), (each) => find(each) !== undefined));
      if (report === undefined) throw new TypeError('the report was removed');
      return report;
    },
  };
  return Object.defineProperties({ ...c, ...scenario }, Object.getOwnPropertyDescriptors(c));
}

interface StartOptions {
  readonly pod: string;
  readonly onPrepared: (sidecar: PreparedSidecar) => Promise<void>;
  readonly folder: string;
  readonly gatewayPort: number;
  readonly reroute: SidecarScenarioOptions['reroute'];
  readonly nodeArgs: readonly string[];
  readonly agentClock: AgentClock | undefined;
}

async function start(c: ControllerScenario, options: StartOptions): Promise<StartedSidecar> {
  const { pod: name, gatewayPort, reroute, ...others } = options;
  const pod = await c.until(
    Pod,
    c.key(name),
    ({ metadata, status }) => status?.phase === 'Running' && metadata?.deletionTimestamp === undefined,
  );
  return await startSidecar(pod, {
    ...others,
    admin: c.admin,
    // The first pod uses the port of the IgnitionSync.
    gatewayPort: name === POD ? gatewayPort : undefined,
    kubeconfigFor: async (account) => {
      const kubeconfig = await c.kubeconfig(account);
      return JSON.stringify(reroute === undefined ? kubeconfig : await reroute(kubeconfig, name));
    },
  });
}

/** StartSidecarOptions configures the process of a pod's agent. */
export interface StartSidecarOptions {
  readonly admin: Cluster['admin'];
  readonly kubeconfigFor: SidecarOptions['kubeconfigFor'];
  /** A folder for the folders of pods. */
  readonly folder: string;
  /** The port of the IgnitionSync, if the gateway of the pod has it. Defaults to another port. */
  readonly gatewayPort?: number | undefined;
  /** Called when the volumes of the pod exist. Defaults to nothing. */
  readonly onPrepared?: (sidecar: PreparedSidecar) => Promise<void>;
  /** Arguments of Node before the program. Defaults to none. */
  readonly nodeArgs?: readonly string[];
  /** The clock of the agent. Defaults to that of the system. */
  readonly agentClock?: AgentClock | undefined;
}

/** startSidecar runs the agent of a stored pod as a child process, with the command line of its container. */
export async function startSidecar(pod: Pod, options: StartSidecarOptions): Promise<StartedSidecar> {
  const { admin, kubeconfigFor, folder, gatewayPort, onPrepared, nodeArgs = [], agentClock } = options;
  const healthPort = await freePort();
  const port = gatewayPort ?? (await freePort());
  const podFolder = join(folder, pod.metadata?.uid ?? '');
  const sidecar = await prepareSidecar({
    pod,
    folder: podFolder,
    client: admin,
    kubeconfigFor,
    // Processes share the ports of the machine. Everything else is the command line of the container.
    flags: {
      'health-address': `127.0.0.1:${healthPort}`,
      'metrics-address': '127.0.0.1:0',
      ...(port === gatewayPort ? {} : { 'local-gateway-port': String(port) }),
    },
  });
  await onPrepared?.(sidecar);
  const program = await bundledProgram(agentClock === undefined ? 'apps/bowline/src/main.ts' : AGENT_PROGRAM);
  const env = agentClock === undefined ? {} : { [CLOCK_START]: String(agentClock.now()) };
  const running = runSidecar(
    { ...sidecar, env: { ...sidecar.env, ...env } },
    { program: process.execPath, args: [...nodeArgs, program], hasIpc: agentClock !== undefined },
  );
  agentClock?.attach(running.child);
  // Nothing reads the output; a full pipe would stop the agent.
  for (const stream of [running.child.stdout, running.child.stderr]) stream?.resume();
  const apiKeyFile = join(podFolder, 'ignition-sync-api-key', 'api-key');
  return {
    pod,
    sidecar,
    running,
    gateway: (given) => new SimulatedGateway({ dataFolder: sidecar.dataFolder, apiKeyFile, port, ...given }),
    probe: async (path) => {
      try {
        const response = await fetch(`http://127.0.0.1:${healthPort}${path}`);
        await response.body?.cancel();
        return response.status;
      } catch {
        return 0;
      }
    },
    read: (path) => readFile(join(sidecar.dataFolder, path), 'utf8'),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

function statefulSet(namespace: string, replicas: number): StatefulSet {
  const labels = { app: 'site' };
  return {
    metadata: { namespace, name: 'site' },
    spec: {
      serviceName: 'site',
      replicas,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels,
          annotations: { 'ignition-sync.io/inject': 'true', 'ignition-sync.io/service-path': 'services/site' },
        },
        spec: {
          securityContext: { runAsUser: 2003 },
          terminationGracePeriodSeconds: 0,
          containers: [
            { name: 'gateway', image: 'ignition', volumeMounts: [{ name: 'data', mountPath: '/ignition/data' }] },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  };
}
