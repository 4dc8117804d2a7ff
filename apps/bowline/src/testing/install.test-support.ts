import { type Cluster, kubectlOf } from '@bowline/control-plane/testing';
import { type ConfigMap, type KubernetesObject, Namespace } from '@bowline/kubernetes';
import { vi } from 'vitest';
import type { Registry } from '../operators/registry.ts';
import { type Child, type Files, freePort, startBowline } from './child-process.test-support.ts';
import { bowline } from './test-operators.test-support.ts';

/** Installed is an install on the API server that can be run as a process on this machine. */
export interface Installed {
  /** The manager's namespace. */
  readonly home: string;
  readonly ports: { readonly health: number; readonly metrics: number; readonly webhook: number };
  /**
   * start runs the manager with the installed configuration, as the installed ServiceAccount; `flags` override the
   * configuration.
   */
  start(flags?: readonly string[]): Promise<Child>;
}

/** InstalledProgram is the program that an install runs. */
export interface InstalledProgram {
  readonly registry: Registry;
  /** Its entry point, relative to the repository. */
  readonly entry: string;
}

/**
 * install applies the output of `bowline manifests` with kubectl, as an administrator would. Webhooks are reached at a
 * loopback address, because the API server of a test reaches no pods. The install is removed with the cluster; kinds
 * stay, for other tests. `program` defaults to the one with the test operators.
 */
export async function install(
  c: Cluster,
  files: Files,
  args: readonly string[],
  program?: InstalledProgram,
): Promise<Installed> {
  const kubectl = await kubectlOf(c);
  const home = await c.createNamespace('manager');
  // The pods need nothing that the strictest standard forbids.
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await c.admin.patch(Namespace, { name: home }, { type: 'merge', body: { metadata: { labels } } });
  const ports = { health: await freePort(), metrics: await freePort(), webhook: await freePort() };
  const manifests = [
    ...['manifests', '--image', 'bowline:test', '-o', 'json', '--namespace', home, ...args],
    ...['--health-address', `127.0.0.1:${ports.health}`, '--metrics-address', `127.0.0.1:${ports.metrics}`],
    ...['--webhook-address', `127.0.0.1:${ports.webhook}`, '--webhook-reached-at', 'loopback'],
  ];
  const { out, err } = await bowline(manifests, program && { registry: program.registry });
  if (err !== '') throw new Error(err);
  const { items } = JSON.parse(out) as { items: KubernetesObject[] };
  c.onDispose(async () => {
    const kept = items.filter(({ kind }) => kind !== 'CustomResourceDefinition' && kind !== 'Namespace');
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: kept });
    await kubectl(['delete', '--ignore-not-found', '--wait=false', '-f', '-'], list);
  });
  await kubectl(['apply', '--server-side', '-f', '-'], out);
  for (const { metadata } of items.filter(({ kind }) => kind === 'CustomResourceDefinition')) {
    await kubectl(['wait', '--for=condition=Established', `crd/${metadata?.name}`]);
  }
  const configMap = items.find(({ kind }) => kind === 'ConfigMap') as ConfigMap;
  const config = await files.write(`${home}.yaml`, configMap.data?.['bowline.yaml'] ?? '');
  return {
    home,
    ports,
    async start(flags = []) {
      const identity = { serviceAccount: { namespace: home, name: configMap.metadata?.name ?? '' } };
      const kubeconfig = await files.write(`${home}.account`, JSON.stringify(await c.kubeconfig(identity)));
      const run = ['run', '--config', config, '--kubeconfig', kubeconfig, '--namespace', home, ...flags];
      return startBowline(run, program?.entry);
    },
  };
}

/**
 * retryUntilAdmitted retries an operation that a webhook admits. The API server observes a configuration, and the
 * authority that it trusts, through its own watch, slightly behind other clients; until then it rejects the operation,
 * and nothing has changed.
 */
export function retryUntilAdmitted<T>(work: () => Promise<T>): Promise<T> {
  return vi.waitFor(work, { timeout: 20_000, interval: 100 });
}
