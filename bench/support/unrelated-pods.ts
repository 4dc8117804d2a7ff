import { type Api, inParallel } from './api.ts';
import { createNamespaces } from './config-maps.ts';
import { untilPodsCanBeCreated } from './until-pods-can-be-created.ts';

const namespaces: readonly string[] = Array.from({ length: 20 }, (_, index) => `bench-unrelated-${index}`);
const writesInFlight = 24;

/** createUnrelatedPods creates pods that have nothing to do with any operator. They are not scheduled. */
export async function createUnrelatedPods(api: Api, count: number): Promise<void> {
  await createNamespaces(api, namespaces);
  await untilPodsCanBeCreated(api, namespaces);
  const indexes = Array.from({ length: count }, (_, index) => index);
  await inParallel(indexes, writesInFlight, async (index) => {
    const name = `app-${String(index).padStart(5, '0')}`;
    await api.ok('POST', `/api/v1/namespaces/${namespaces[index % namespaces.length]}/pods`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'server' } },
      spec: { containers: [{ name: 'main', image: 'example.test/main:1' }] },
    });
  });
}
