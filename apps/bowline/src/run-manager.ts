import { parseDuration } from '@bowline/machinery';
import {
  connect,
  createClient,
  createLog,
  createMetrics,
  Manager,
  type ManagerOptions,
  type Operator,
  runUntilSignal,
  type WebhookServing,
} from '@bowline/runtime';
import type { ManagerConfig } from './config/manager-config.ts';
import type { Settings } from './config/settings.ts';
import { type ClusterConnection, type ClusterOptions, findCluster, isLoopback } from './connect-cluster.ts';
import { clusterName, DEFAULT_NAMESPACE } from './names.ts';
import { requireKinds } from './require-kinds.ts';

/** runManager runs the selected operators until the process is told to stop. */
export async function runManager(
  settings: Settings,
  cluster: ClusterOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { operators, manager, sections } = settings;
  const connection = await findCluster(cluster, env);
  const log = createLog({ level: manager.logging.level, format: manager.logging.format ?? formatFor(connection) });
  const metrics = createMetrics();
  const transport = connect(connection.config, { log, metrics });
  await using client = createClient({ transport, log, metrics });
  await runUntilSignal(async (signal) => {
    await requireKinds(client, operators, signal);
    await new Manager({
      ...managerOptions(manager, connection),
      operators,
      config: sections,
      clientFor: () => client,
      log,
      metrics,
    }).run(signal);
  });
}

function formatFor({ isPod }: ClusterConnection): 'json' | 'text' {
  return isPod ? 'json' : 'text';
}

/** managerOptions is the configuration as the runtime takes it. */
export function managerOptions(
  manager: ManagerConfig,
  connection: ClusterConnection,
): Omit<ManagerOptions, 'operators' | 'clientFor'> {
  const { leaderElection, health, metrics, drainTimeout } = manager;
  const own = connection.isPod ? connection.config.namespace : undefined;
  const namespace = manager.namespace ?? own ?? DEFAULT_NAMESPACE;
  return {
    namespace,
    namespaces: manager.namespaces,
    healthAddress: health.address,
    metricsAddress: metrics.address,
    drainTimeoutMs: parseDuration(drainTimeout),
    leaderElection: leaderElection.enabled && {
      leaseDurationMs: parseDuration(leaderElection.leaseDuration),
      renewDeadlineMs: parseDuration(leaderElection.renewDeadline),
      retryPeriodMs: parseDuration(leaderElection.retryPeriod),
    },
    webhooksFor: webhooksFor(manager, connection, namespace),
  };
}

function webhooksFor(
  { webhook, namespaces }: ManagerConfig,
  { config, isPod }: ClusterConnection,
  namespace: string,
): (operator: Operator) => WebhookServing {
  // An API server on this machine reaches this process; any other could not, and would refuse every object.
  const reachedAt = webhook.reachedAt ?? (!isPod && isLoopback(config.server) ? 'loopback' : 'service');
  const configurations = webhook.configurations ?? (!isPod && reachedAt === 'loopback' ? 'runtime' : 'chart');
  const { kind, name = '', folder = '', inject } = webhook.certificates;
  const certificates = {
    managed: { kind: 'managed' },
    secret: { kind: 'secret', name, inject },
    files: { kind: 'files', folder, inject },
  } as const;
  return (operator) => ({
    address: webhook.address,
    ...(reachedAt === 'service' ? {} : { reachedAt: reachedAt === 'loopback' ? reachedAt : { url: reachedAt } }),
    configurations,
    configurationName: clusterName(operator.name, namespace),
    certificates: certificates[kind],
    onlyNamespaces: namespaces,
  });
}
