import { homedir } from 'node:os';
import type { Log } from '@bowline/runtime';
import {
  type ConnectionConfig,
  defaultKubeconfigPaths,
  inClusterConfig,
  isInCluster,
  loadKubeconfig,
} from '@bowline/runtime/client';
import type { Command } from 'commander';

/** ClusterOptions select the cluster. */
export interface ClusterOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** addClusterOptions adds the options that select the cluster to a command. */
export function addClusterOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      "path to the kubeconfig (default: $KUBECONFIG, else the pod's ServiceAccount, else ~/.kube/config)",
    )
    .option('--context <name>', 'context of the kubeconfig (default: the current context)');
}

/** ClusterConnection describes how to reach the cluster. */
export interface ClusterConnection {
  readonly config: ConnectionConfig;
  /** Whether this process runs in a pod of the cluster, as its account. */
  readonly isPod: boolean;
}

/** findCluster returns the cluster that was named, otherwise that of $KUBECONFIG, of the pod, or of ~/.kube/config. */
export async function findCluster(
  { kubeconfig, context }: ClusterOptions,
  env: Readonly<Record<string, string | undefined>>,
  log?: Log,
): Promise<ClusterConnection> {
  const isNamed = kubeconfig !== undefined || context !== undefined || Boolean(env.KUBECONFIG);
  if (!isNamed && isInCluster(env)) return { config: await inClusterConfig({ env, log }), isPod: true };
  const paths = kubeconfig === undefined ? defaultKubeconfigPaths({ env, home: homedir() }) : [kubeconfig];
  return { config: await loadKubeconfig({ paths, context, env, log }), isPod: false };
}

/** isLoopback reports whether a server is on this machine. */
export function isLoopback(server: string): boolean {
  const host = new URL(server).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
