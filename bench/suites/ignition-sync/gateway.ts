import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { applyDefaults } from '@bowline/machinery/schema';
import { agentBinding, agentRules } from '../../../operators/ignition-sync/src/agent-access/agent-role.ts';
import { IgnitionSync } from '../../../operators/ignition-sync/src/api/ignition-sync.ts';
import { objectNames, POD_ANNOTATIONS } from '../../../operators/ignition-sync/src/api/names.ts';
import { type Config, config } from '../../../operators/ignition-sync/src/config.ts';
import { agentSettingsOf } from '../../../operators/ignition-sync/src/protocol/agent-settings.ts';
import { desiredHash } from '../../../operators/ignition-sync/src/protocol/desired-hash.ts';
import { encodeMetadata, type SyncMetadata } from '../../../operators/ignition-sync/src/protocol/metadata.ts';
import { SimulatedGateway } from '../../../operators/ignition-sync/src/simulated-gateway/simulated-gateway.ts';
import { MERGE_PATCH } from '../../support/requests.ts';
import type { SubjectProcess } from '../../support/subject-process.ts';
import { type AgentPlace, startAgent, writeApiKey } from './agent-process.ts';
import { type ReportWatch, watchReport } from './report-watch.ts';
import type { IgnitionScene } from './scene.ts';

/** AGENT_NAMESPACE is the namespace of agents whose ConfigMaps the harness writes. No operator runs while they do. */
export const AGENT_NAMESPACE = 'bench-agents';
const POD = 'site-0';
const NAME = 'site';

/** GatewayOptions configures a gateway. */
export interface GatewayOptions {
  /** The address of its repository. */
  readonly repo: string;
  /** The folder of the gateway in the repository. Defaults to the root. */
  readonly servicePath?: string;
  /** Whether the gateway runs. Defaults to false: the agent places files before the gateway starts. */
  readonly isRunning?: boolean;
}

/** BenchGateway is a gateway with an empty data folder, the part of the cluster that its agent uses, and its agent. */
export interface BenchGateway extends AsyncDisposable {
  readonly folder: string;
  readonly dataFolder: string;
  readonly reports: ReportWatch;
  /** The gateway, if it runs. */
  readonly simulated: SimulatedGateway | undefined;
  /** publish writes the metadata ConfigMap as the controller would, and returns the hash of the desired state. */
  publish(commit: string): Promise<string>;
  /** start starts the process of the agent. */
  start(): Promise<SubjectProcess>;
}

let count = 0;

/** openGateway creates a gateway and the objects of its IgnitionSync. */
export async function openGateway(scene: IgnitionScene, options: GatewayOptions): Promise<BenchGateway> {
  const { repo, servicePath = '.', isRunning = false } = options;
  const cr = `sync-${count++}`;
  const folder = join(scene.folder, cr);
  const place: AgentPlace = { namespace: AGENT_NAMESPACE, cr, pod: POD, gateway: NAME, repo, folder, servicePath };
  await createObjects(scene, cr);
  mkdirSync(join(folder, 'data'), { recursive: true });
  const apiKeyFile = writeApiKey(folder);
  const dataFolder = join(folder, 'data');
  const simulated = isRunning
    ? new SimulatedGateway({ dataFolder, apiKeyFile, journalFile: join(folder, 'journal') })
    : undefined;
  await simulated?.start();
  // Nothing listens on the discard port.
  const port = simulated?.port ?? 9;
  const reports = await watchReport(scene, { namespace: AGENT_NAMESPACE, cr, key: NAME });
  let isPublished = false;
  return {
    folder,
    dataFolder,
    reports,
    simulated,
    async publish(commit) {
      const metadata = metadataOf(commit, repo, port);
      const data = encodeMetadata(metadata);
      const path = `/api/v1/namespaces/${AGENT_NAMESPACE}/configmaps`;
      const { metadata: name } = objectNames(cr);
      if (isPublished) await scene.api.ok('PATCH', `${path}/${name}`, { data }, MERGE_PATCH);
      else await scene.api.ok('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
      isPublished = true;
      return desiredHash(metadata, POD) ?? '';
    },
    start: () => startAgent(scene, { ...place, gatewayPort: port }),
    async [Symbol.asyncDispose]() {
      reports[Symbol.dispose]();
      await simulated?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** createObjects creates the ConfigMaps of an IgnitionSync and the permissions of its agents, as the controller does. */
async function createObjects({ api }: IgnitionScene, cr: string): Promise<void> {
  const names = objectNames(cr);
  const core = `/api/v1/namespaces/${AGENT_NAMESPACE}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${AGENT_NAMESPACE}`;
  for (const name of [names.status, names.changes]) {
    await api.ok('POST', `${core}/configmaps`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  }
  const metadata = { name: names.agent };
  await api.ok('POST', `${rbac}/roles`, { metadata, rules: agentRules(cr) });
  await api.ok('POST', `${rbac}/rolebindings`, { metadata, ...agentBinding(cr, AGENT_NAMESPACE, ['default']) });
  const pod = {
    metadata: { name: POD, annotations: { [POD_ANNOTATIONS.crName]: cr } },
    spec: { containers: [{ name: 'gateway', image: 'example.test/ignition:8.3' }] },
  };
  await api.ok('POST', `${core}/pods`, pod, undefined, [409]);
}

const defaults = applyDefaults({}, config.json) as Config;

function metadataOf(commit: string, repo: string, gatewayPort: number): SyncMetadata {
  const { spec } = IgnitionSync.withDefaults({
    metadata: { name: 'plant' },
    spec: { git: { repo, ref: 'main' }, gateway: { apiKeySecretRef: { name: 'api-key', key: 'key' } } },
  });
  return {
    commit,
    ref: 'main',
    trigger: '',
    gitURL: repo,
    authType: 'none',
    knownHosts: '',
    paused: false,
    gatewayPort,
    gatewayTLS: true,
    excludePatterns: spec.excludePatterns,
    settings: agentSettingsOf(spec, defaults),
    profiles: {},
    plan: { [POD]: { name: NAME, key: NAME, commit, ref: 'main' } },
    rollback: undefined,
    crUID: '7e6c9e3e-8f0a-4a57-9f7e-2f6f3f1f0a11',
  };
}
