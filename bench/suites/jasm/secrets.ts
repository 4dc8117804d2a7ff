import { inParallel } from '../../support/api.ts';
import { RevisionWatch } from '../../support/revision-watch.ts';
import { namespaces } from './pods.ts';
import type { JasmScene } from './scene.ts';

const deletesInFlight = 16;
const selector = `labelSelector=${encodeURIComponent('app.kubernetes.io/managed-by=caronte')}`;

/** watchSecrets watches all Secrets with the operator's label, including those of the bare loop. */
export async function watchSecrets({ connection }: JasmScene): Promise<RevisionWatch> {
  const watch = new RevisionWatch(connection, '/api/v1/secrets', selector);
  try {
    await watch.synced();
    return watch;
  } catch (error) {
    watch[Symbol.dispose]();
    throw error;
  }
}

/** revision returns a revision in the encoding of a Secret. */
export function revision(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** clearSecrets removes them and all events. No operator may run. */
export async function clearSecrets({ api }: JasmScene): Promise<void> {
  await inParallel(namespaces, deletesInFlight, async (namespace) => {
    await api.ok('DELETE', `/api/v1/namespaces/${namespace}/secrets?${selector}`);
    await api.ok('DELETE', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`);
  });
}
