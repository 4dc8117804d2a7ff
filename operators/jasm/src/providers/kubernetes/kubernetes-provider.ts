import { Secret } from '@bowline/kubernetes';
import { anyGlob } from '@bowline/machinery';
import { CONSENT_ANNOTATIONS } from '../../api/names.ts';
import type { ExternalSecret, ProviderContext, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { refuseUnsupported } from '../unsupported-fields.ts';
import { clusterCall } from './cluster-call.ts';

const PROVIDER = 'kubernetes';

/**
 * KubernetesProvider reads Secrets of other namespaces of the same cluster. A Secret is only read for the namespaces that it names
 * in its annotation `shared-with`; for all others it is as if it were not there, so that nobody learns what exists elsewhere.
 */
export class KubernetesProvider implements SecretProvider {
  readonly name = PROVIDER;
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #context: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe'>;

  constructor(context: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe'>) {
    this.#context = context;
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const { client, ...how } = this.#context;
    const key = keyOf(ref);
    const found = await clusterCall({
      ...how,
      ...key,
      provider: PROVIDER,
      operation: 'get',
      call: (signal) => client.find(Secret, key, { signal }),
      signal,
    });
    const { metadata, data } = shared(found, ref, 'get');
    const entries = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
    return {
      provider: PROVIDER,
      sourcePath: ref.path,
      payload: { kind: 'entries', entries: Object.fromEntries(entries) },
      version: metadata?.resourceVersion,
    };
  }

  /** probeVersion reads the metadata alone. A change of labels gives another version too: the content is then compared. */
  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
    const { client, ...how } = this.#context;
    const { namespace, name } = keyOf(ref);
    const { items } = await clusterCall({
      ...how,
      namespace,
      name,
      provider: PROVIDER,
      operation: 'list',
      call: (signal) =>
        client.list(Secret, { namespace, fieldSelector: `metadata.name=${name}`, metadataOnly: true, signal }),
      signal,
    });
    return shared(items[0], ref, 'list').metadata?.resourceVersion;
  }
}

function keyOf(ref: SecretRef): { readonly namespace: string; readonly name: string } {
  refuseUnsupported(ref, { provider: PROVIDER, supported: [] });
  const [namespace = '', name = ''] = ref.path.split('/');
  return { namespace, name };
}

/** shared is the Secret if it may be read for the asking namespace. One that may not is told like one that is not there. */
function shared(secret: Secret | undefined, { path, namespace }: SecretRef, operation: string): Secret {
  const consent = secret?.metadata?.annotations?.[CONSENT_ANNOTATIONS.sharedWith] ?? '';
  const isShared = anyGlob(consent.split(',').map((pattern) => pattern.trim()));
  if (secret !== undefined && isShared(namespace)) return secret;
  throw new ProviderError(
    `there is no Secret ${path} that is shared with the namespace ${namespace}: create it, or let its owner share it with the ` +
      `annotation ${CONSENT_ANNOTATIONS.sharedWith}: ${namespace}`,
    { kind: 'not-found', provider: PROVIDER, operation, code: 'NotFound' },
  );
}
