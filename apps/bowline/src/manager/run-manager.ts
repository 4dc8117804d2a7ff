import { parseDuration } from '@bowline/machinery';
import { runUntilSignal } from '@bowline/runtime';
import { connect, createClient } from '@bowline/runtime/client';
import { createLog, createMetrics, Manager, type ManagerOptions } from '@bowline/runtime/manager';
import { type ClusterConnection, type ClusterOptions, findCluster, isLoopback } from '../cluster/connect-cluster.ts';
import { requireCluster } from '../cluster/require-cluster.ts';
import type { ManagerConfig } from '../config/manager-config.ts';
import type { Settings } from '../config/settings.ts';
import { clusterName, DEFAULT_NAMESPACE } from '../install/names.ts';
import { webhookServing } from './webhook-serving.ts';

/** runManager runs the selected operators until the process receives a signal to stop. */
export async function runManager(
  settings: Settings,
  cluster: ClusterOptions,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const { operators, manager, sections } = settings;
  const connection = await findCluster(cluster, env);
  const format = manager.logging.format ?? (connection.isPod ? 'json' : 'text');
  const log = createLog({ level: manager.logging.level, format });
  const metrics = createMetrics();
  const transport = connect(connection.config, { log, metrics });
  await using client = createClient({ transport, log, metrics });
  await runUntilSignal(async (signal) => {
    await requireCluster(client, operators, signal);
    const { secure, certificateFolder } = manager.metrics;
    const running = new Manager({
      ...managerOptions(manager, connection),
      operators,
      config: sections,
      // The process, not an operator, checks who may read its metrics.
      metricsSecurity: secure ? { client, certificateFolder } : undefined,
      clientFor: () => client,
      log,
      metrics,
    });
    await running.run(signal);
  });
}

/** managerOptions converts the configuration to the options of the runtime. */
export function managerOptions(
  manager: ManagerConfig,
  { config, isPod }: ClusterConnection,
): Omit<ManagerOptions, 'operators' | 'clientFor'> {
  const { leaderElection, health, metrics, drainTimeout } = manager;
  const namespace = manager.namespace ?? (isPod ? config.namespace : undefined) ?? DEFAULT_NAMESPACE;
  const environment = { namespace, isServerLocal: !isPod && isLoopback(config.server) };
  return {
    namespace,
    namespaces: manager.namespaces,
    // Outside of a pod the process does not run from the image of the install.
    image: isPod ? manager.install?.image : undefined,
    scratchFolder: manager.scratchFolder,
    healthAddress: health.address,
    metricsAddress: metrics.address,
    drainTimeoutMs: parseDuration(drainTimeout),
    leaderElection: leaderElection.enabled && {
      leaseDurationMs: parseDuration(leaderElection.leaseDuration),
      renewDeadlineMs: parseDuration(leaderElection.renewDeadline),
      retryPeriodMs: parseDuration(leaderElection.retryPeriod),
    },
    installNameFor: (operator) => clusterName(operator.name, namespace),
    webhooksFor: (operator) => webhookServing(manager, environment, operator),
  };
}
