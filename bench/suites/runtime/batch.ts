import type { ConfigMap } from '@bowline/kubernetes';
import { defineResource, s } from '@bowline/runtime/resource';
import { sampleConfigMap } from '../../support/config-maps.ts';

/** Batch is the kind whose controllers write many children. */
export const Batch = defineResource({
  group: 'bench.bowline.dev',
  version: 'v1',
  kind: 'Batch',
  scope: 'Namespaced',
  spec: s.object({ children: s.integer(), revision: s.string() }),
  status: s.object({ children: s.integer().optional() }),
});

/** batchLabel is on every child; its value is the Batch's name. */
export const batchLabel = 'bench.bowline.dev/batch';

/** ChildMaker returns one child of a Batch: only the revision changes. */
export type ChildMaker = (index: number, namespace: string, batch: string, revision: string) => ConfigMap;

/** childMaker prepares the content of the given number of children, about 1.3 kB each as stored, so that creating one is free. */
export function childMaker(count: number): ChildMaker {
  const samples = Array.from({ length: count }, (_, index) => sampleConfigMap(index, ''));
  return (index, namespace, batch, revision) => {
    const sample = samples[index];
    return {
      metadata: { namespace, name: `${batch}-${index}`, labels: { ...sample?.metadata.labels, [batchLabel]: batch } },
      data: { ...sample?.data, revision },
    };
  };
}
