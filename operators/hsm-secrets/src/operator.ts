import { ClusterRole, DaemonSet, Deployment, Secret, ServiceAccount } from '@bowline/kubernetes';
import { BoundedMap, parseDuration, untilAborted } from '@bowline/machinery';
import {
  allow,
  defineOperator,
  type Operator,
  OWN_NAMESPACE,
  type Permission,
  type SetupContext,
} from '@bowline/runtime';
import { authorityPermissions, CertificateAuthority } from '@bowline/runtime/certificates';
import { KeyStream } from '@bowline/runtime/controller';
import { AgentClients } from './agent-client/agent-clients.ts';
import { AgentDirectory, type Agents } from './agent-client/agent-directory.ts';
import { agentsController } from './agents/controller.ts';
import { reconcile as reconcileAgents } from './agents/reconcile.ts';
import { HSMDevice } from './api/hsm-device.ts';
import { HSMPool } from './api/hsm-pool.ts';
import { HSMSecret } from './api/hsm-secret.ts';
import { LABELS, MANAGER, MANAGER_NAME, OPERATOR } from './api/names.ts';
import { apiCommands } from './commands/api-commands.ts';
import { type Config, config } from './config.ts';
import type { Deps } from './deps.ts';
import { deviceController } from './device/controller.ts';
import { MTLS_MANAGED_BY, reconcile as reconcileDevice } from './device/reconcile.ts';
import { discoveryRole } from './guard/discovery-role.ts';
import { accountsBinding, accountsPolicy, guardsOf, reportsBinding, reportsPolicy } from './guard/report-policies.ts';
import { servedPort } from './http-api/api-location.ts';
import { apiPermissions } from './http-api/api-permissions.ts';
import { HttpApi } from './http-api/http-api.ts';
import { cliAccount } from './install/api-companions.ts';
import { Confirmations } from './memory/confirmations.ts';
import { DeviceProblems } from './memory/device-problems.ts';
import { MirrorRounds } from './memory/mirror-rounds.ts';
import { Rejections } from './memory/rejections.ts';
import { HsmMetrics } from './metrics.ts';
import { migrateCommand } from './migration/migrate-command.ts';
import { mirrorController } from './mirroring/controller.ts';
import { reconcile as reconcileMirror } from './mirroring/reconcile.ts';
import { nodeCommands } from './node-commands.ts';
import { poolController, reportsController } from './pool/controller.ts';
import { reconcile as reconcilePool } from './pool/reconcile.ts';
import { runTogether } from './processes/run-together.ts';
import { local, samples } from './samples.ts';
import { ChecksumRounds } from './secret/checksum-rounds.ts';
import { cleanUp as cleanUpSecret } from './secret/cleanup.ts';
import { secretController } from './secret/controller.ts';
import { ownDeployments } from './secret/parent.ts';
import { reconcile as reconcileSecret } from './secret/reconcile.ts';
import { runSimulation } from './simulation/run-simulation.ts';
import { simulateCommands } from './simulation/simulate-commands.ts';
import { SimulatedAgents } from './simulation/simulated-agents.ts';
import { SIMULATION_SECRET } from './simulation/simulation-secret.ts';

/** AUTHORITY_SECRET holds the CA of the agents, and the certificate with which the manager connects to them. */
const AUTHORITY_SECRET = 'hsm-secrets-mtls';

/** A Secret that does not fit is written again whenever it changes. */
const MAX_MODIFIED_SECRETS = 10_000;

/** HsmSecretsOptions configures an operator with other agents. */
export interface HsmSecretsOptions {
  /** Where agents are found. Defaults to the pods of agents. */
  readonly agents?: Agents | undefined;
}

/** hsmSecretsWith returns the operator with custom agents. */
export function hsmSecretsWith(options: HsmSecretsOptions = {}): Operator {
  return defineOperator({
    ...OPERATOR,
    resources: [HSMDevice, HSMPool, HSMSecret],
    config,
    setup: (context: SetupContext<Config>): Deps => setUp(context, options),
    controllers: [
      deviceController.reconcile(reconcileDevice),
      reportsController,
      poolController.reconcile(reconcilePool),
      secretController.reconcile(reconcileSecret).cleanup(cleanUpSecret),
      agentsController.reconcile(reconcileAgents),
      mirrorController.reconcile(reconcileMirror),
    ],
    services: [
      { name: 'authority', run: (signal, { authority }, { client }) => authority.run(signal, client) },
      { name: 'agents', run: (signal, { followAgents }) => followAgents(signal) },
      {
        name: 'api',
        port: ({ api }) => servedPort(api),
        run: (signal, { serveApi }, service) => serveApi(signal, service),
      },
      { name: 'api-leader', leaderOnly: true, run: (signal, { leadApi }) => leadApi(signal) },
      { name: 'simulation', leaderOnly: true, run: (signal, { simulate }) => simulate(signal) },
    ],
    commands: [...Object.values(nodeCommands), ...apiCommands, migrateCommand, ...simulateCommands],
    kubectlPlugin: 'hsm',
    companions: [discoveryRole, reportsPolicy, reportsBinding, accountsPolicy, accountsBinding, cliAccount],
    permissions: permissionsFor,
    createdWorkloads: [DaemonSet, Deployment].map((resource) => ({
      resource,
      labelSelector: `${LABELS.managedBy}=${MANAGER}`,
    })),
    samples,
    local,
  });
}

/** hsmSecrets is the operator: it finds HSM devices, groups them into pools and delivers their secrets. */
export const hsmSecrets = hsmSecretsWith();

/** The permissions to read and write objects come from the declarations of the controllers. */
function permissionsFor({ simulation, api }: Config): readonly Permission[] {
  return [
    allow(['bind'], ClusterRole, { names: [discoveryRole.name] }),
    ...authorityPermissions(AUTHORITY_SECRET),
    ...(api.enabled ? apiPermissions() : []),
    ...(simulation.enabled
      ? [
          allow(['create'], ServiceAccount, { subresource: 'token' }),
          allow(['get', 'list', 'watch', 'patch'], Secret, { names: [SIMULATION_SECRET], namespaces: [OWN_NAMESPACE] }),
        ]
      : []),
  ];
}

function setUp(context: SetupContext<Config>, options: HsmSecretsOptions): Deps {
  const { config, client, namespace, namespaces, image, nameOf, clock, random, log, signal } = context;
  const confirmations = new Confirmations(clock);
  const wokenPools = new KeyStream();
  const requestedMirrors = new KeyStream();
  const mirrorRounds = new MirrorRounds(requestedMirrors);
  const authority = new CertificateAuthority({
    operator: OPERATOR,
    secret: { namespace, name: AUTHORITY_SECRET },
    certificate: { names: [MANAGER_NAME], usages: ['client'] },
    providedAnnotation: MTLS_MANAGED_BY,
    // By the system clock: peers check certificates by theirs.
    ...{ random, log, metrics: context.metrics },
  });
  const clients = new AgentClients({
    identity: authority,
    callTimeoutMs: parseDuration(config.agent.callTimeout),
    ...{ clock, random, metrics: context.metrics },
  });
  signal.addEventListener('abort', () => clients[Symbol.dispose](), { once: true });
  const common = { client, managerNamespace: namespace, namespaces, clock, random, log };
  const simulated = config.simulation.enabled
    ? new SimulatedAgents({ ...common, authority, onChange: (device) => directory.announce(device) })
    : undefined;
  const directory: AgentDirectory = new AgentDirectory({
    ...common,
    clients,
    addressOf: simulated && ((podUID) => simulated.addressOf(podUID)),
  });
  const agents = options.agents ?? directory;
  const api = config.api.enabled
    ? new HttpApi({
        ...{ client, agents, authority, namespace, namespaces, clock, log },
        address: config.api.address,
        accountName: nameOf(cliAccount),
        requestMirror: (pool) => mirrorRounds.request(pool, clock.now()),
      })
    : undefined;
  return {
    config,
    image: config.image ?? image,
    agentImage: config.agentImage ?? config.image ?? image,
    managerNamespace: namespace,
    discoveryRole: nameOf(discoveryRole),
    guards: guardsOf(nameOf),
    authority,
    agents,
    followAgents: options.agents ? untilAborted : (until) => directory.run(until),
    simulate: simulated
      ? (until) => runTogether(until, [(end) => runSimulation(common, end), (end) => simulated.run(end)])
      : untilAborted,
    parentRefs: config.parentRefs ?? ownDeployments(namespace),
    checksums: new ChecksumRounds(clock),
    modifiedSecrets: new BoundedMap({ maxEntries: MAX_MODIFIED_SECRETS }),
    serveApi: api ? (until, service) => api.serve(until, service) : untilAborted,
    leadApi: api ? (until) => api.lead(until) : untilAborted,
    confirmations,
    deviceProblems: new DeviceProblems(wokenPools),
    wokenPools,
    rejections: new Rejections(clock),
    pinRetries: new Set(),
    mirrorRounds,
    requestedMirrors,
    metrics: new HsmMetrics({
      metrics: context.metrics,
      clock,
      oldestReportAt: () => confirmations.oldest(),
      perObject: config.perObjectMetrics,
      signal,
    }),
  };
}
