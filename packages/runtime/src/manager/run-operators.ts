import { homedir } from 'node:os';
import type { Client } from '../client/client.ts';
import { createClient } from '../client/create-client.ts';
import { operatorIdentity } from '../identity/operator-identity.ts';
import { inClusterConfig, isInCluster } from '../kubeconfig/in-cluster.ts';
import { defaultKubeconfigPaths, loadKubeconfig } from '../kubeconfig/load-kubeconfig.ts';
import { createLog } from '../observability/create-log.ts';
import { createMetrics } from '../observability/create-metrics.ts';
import { applyCompanions } from '../operator/apply-companions.ts';
import { applyInstallNamespaces } from '../operator/apply-install-namespaces.ts';
import { companionManifests } from '../operator/companion-manifests.ts';
import { installDependencies } from '../operator/install-dependencies.ts';
import type { Operator } from '../operator/operator.ts';
import { withConfig } from '../operator/with-config.ts';
import { installCustomResourceDefinitions } from '../resource/install-crds.ts';
import { connect } from '../transport/connect.ts';
import { Manager } from './manager.ts';
import type { ManagerOptions } from './manager-options.ts';
import { runUntilSignal } from './run-until-signal.ts';

/** RunOperatorsOptions configures a program that runs operators. */
export interface RunOperatorsOptions extends Omit<ManagerOptions, 'clientFor'> {
  /** The process environment, used to detect a pod and to find the kubeconfig. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Applies the operators' CRDs, companions and namespaces, and the missing CRDs of their dependencies, before they
   * start; for development, where nothing else installs them.
   * Defaults to false.
   */
  readonly install?: boolean | undefined;
}

/**
 * runOperators is a complete program that runs operators until it is stopped: with the pod's service account in a
 * cluster, otherwise against the current context of the kubeconfig. Probes, metrics, leader election and logs work as
 * in any manager.
 *
 * @example
 * await runOperators({ operators: [greeter], env: process.env });
 */
export async function runOperators(options: RunOperatorsOptions): Promise<void> {
  const { env, install = false, ...given } = options;
  const inPod = isInCluster(env);
  const log = given.log ?? createLog({ format: inPod ? 'json' : 'text' });
  const metrics = given.metrics ?? createMetrics();
  const config = inPod
    ? await inClusterConfig({ env, log })
    : await loadKubeconfig({ paths: defaultKubeconfigPaths({ env, home: homedir() }), env, log });
  await using client = createClient({ transport: connect(config, { log, metrics }), log, metrics });
  const namespace = given.namespace ?? config.namespace ?? (inPod ? undefined : 'default');
  const manager = new Manager({
    ...given,
    namespace,
    clientFor: () => client,
    log,
    metrics,
  });
  await runUntilSignal(async (signal) => {
    if (install) {
      for (const operator of options.operators)
        await installOperator(client, operator, { ...given, namespace }, signal);
    }
    await manager.run(signal);
  });
}

async function installOperator(
  client: Client,
  operator: Operator,
  { config, namespaces, namespace, installNameFor }: Omit<ManagerOptions, 'clientFor'>,
  signal: AbortSignal,
): Promise<void> {
  const { fieldManagers, systemNamespace } = operatorIdentity(operator);
  await installCustomResourceDefinitions(client, operator.resources, { signal, fieldManager: fieldManagers.crds });
  await installDependencies(client, operator, { signal });
  const configured = await withConfig(operator, config?.[operator.name]);
  await applyInstallNamespaces(client, configured, { signal });
  const companions = companionManifests(configured, {
    namespace: namespace ?? systemNamespace,
    namespaces,
    name: installNameFor?.(operator),
  });
  await applyCompanions(client, operator, companions, { signal });
}
