import { keyOf, keyString, Pod } from '@bowline/kubernetes';
import type { LiveClient } from '@bowline/runtime/controller';

/** Pods are large objects: smaller pages keep the peak memory of the operator low in clusters with many of them. */
const PAGE_SIZE = 50;

/**
 * podsThatMount returns the pods that use one of some CSI drivers, sorted, or only the first `limit` that are found. They
 * are listed when they matter: a cache of all pods would be large.
 */
export async function podsThatMount(
  live: Pick<LiveClient, 'pages'>,
  drivers: ReadonlySet<string>,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { items } of live.pages(Pod, { pageSize: PAGE_SIZE })) {
    for (const pod of items) {
      const hasEnded = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
      const mounts = pod.spec?.volumes?.some(({ csi }) => csi !== undefined && drivers.has(csi.driver));
      if (mounts && !hasEnded) names.push(keyString(keyOf(pod)));
      if (names.length >= limit) return names.sort();
    }
  }
  return names.sort();
}
