import type { KubernetesObject, ObjectKey, Resource } from '@bowline/kubernetes';
import type { Client } from '@bowline/runtime/client';

/** untilExists waits, by watch, until an object exists. */
export async function untilExists<T extends KubernetesObject>(
  client: Client,
  resource: Resource<T>,
  key: ObjectKey,
  signal: AbortSignal,
): Promise<void> {
  const fieldSelector = `metadata.name=${key.name}`;
  for (;;) {
    // Without a resourceVersion a watch begins with the existing objects.
    const stream = await client.watch(resource, { namespace: key.namespace, fieldSelector, signal });
    for await (const event of stream) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED') return;
    }
    signal.throwIfAborted();
  }
}
