import type { BareObject } from '../../support/bare-watch.ts';
import { patchConfig } from './five-objects.ts';
import type { ObjectWatch } from './object-watch.ts';
import type { ZtwimScene } from './scene.ts';

const files = ['ConfigMap/spire-server', 'ConfigMap/spire-controller-manager', 'ConfigMap/spire-agent'];
const workloads = ['StatefulSet/spire-server', 'DaemonSet/spire-agent'];

/**
 * changeClusterName changes the cluster name, and returns how long it took from the request until the last of the three files and
 * two templates had changed.
 */
export async function changeClusterName({ api }: ZtwimScene, children: ObjectWatch, name: string): Promise<number> {
  const before = new Map(workloads.map((key) => [key, templateOf(children.objects.get(key))]));
  const hasChanged = (): boolean =>
    files.every((key) => JSON.stringify(children.objects.get(key)?.data ?? {}).includes(name)) &&
    workloads.every((key) => templateOf(children.objects.get(key)) !== before.get(key));
  children.forget();
  const start = performance.now();
  await patchConfig(api, { spec: { clusterName: name } });
  return (await children.until(hasChanged, `the cluster name ${name}`)) - start;
}

function templateOf(workload: BareObject | undefined): string {
  const spec = workload?.spec as { readonly template?: { readonly metadata?: { readonly annotations?: object } } };
  return JSON.stringify(spec?.template?.metadata?.annotations ?? {});
}
