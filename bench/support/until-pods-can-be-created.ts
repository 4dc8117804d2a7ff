import { setTimeout as pause } from 'node:timers/promises';
import type { Api } from './api.ts';

/** untilPodsCanBeCreated waits for the default ServiceAccounts of new namespaces, which the admission of pods requires. */
export async function untilPodsCanBeCreated(api: Api, namespaces: readonly string[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (const namespace of namespaces) {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    while ((await api.request('GET', path)).status !== 200) {
      if (performance.now() > deadline) throw new Error(`the namespace ${namespace} has no ServiceAccount`);
      await pause(50);
    }
  }
}
