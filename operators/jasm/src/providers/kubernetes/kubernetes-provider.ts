import { Secret } from '@bowline/kubernetes';
import { anyGlob } from '@bowline/machinery';
import { CONSENT_ANNOTATIONS } from '../../api/names.ts';
import type { ExternalSecret, ProviderContext, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { rejectUnsupported } from '../unsupported-fields.ts';
import { clusterCall } from './cluster-call.ts';

const PROVIDER = 'kubernetes';

/**
 * KubernetesProvider reads Secrets of other namespaces of the same cluster. A Secret is read only for the namespaces
 * that its annotation `shared-with` names; for all others it appears not to exist, so that they do not learn what
 * exists elsewhere.
 */
export class KubernetesProvider implements SecretProvider {
  readonly name = PROVIDER;
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #context: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe'>;

  constructor(context: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe'>) {
    this.#context = context;
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const { client } = this.#context;
    const { metadata, data = {} } = await this.#read('get', ref, signal, (key) => client.find(Secret, key, { signal }));
    const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
    return {
      provider: PROVIDER,
      sourcePath: ref.path,
      payload: { kind: 'entries', entries: Object.fromEntries(entries) },
      version: metadata?.resourceVersion,
    };
  }

  /**
   * probeVersion reads only the metadata. A change of labels also results in a new version: the content is compared
   * then.
   */
  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
    const { client } = this.#context;
    const { metadata } = await this.#read('list', ref, signal, async ({ namespace, name }) => {
      const fieldSelector = `metadata.name=${name}`;
      const { items } = await client.list(Secret, { namespace, fieldSelector, metadataOnly: true, signal });
      return items[0];
    });
    return metadata?.resourceVersion;
  }

  #read(
    operation: string,
    ref: SecretRef,
    signal: AbortSignal,
    find: (key: Key) => Promise<Secret | undefined>,
  ): Promise<Secret> {
    const { clock, observe } = this.#context;
    const key = keyOf(ref);
    const call = async () => shared(await find(key), ref, operation);
    return clusterCall({ ...key, provider: PROVIDER, operation, clock, observe, call, signal });
  }
}

/** Key identifies a Secret. */
interface Key {
  readonly namespace: string;
  readonly name: string;
}

function keyOf(ref: SecretRef): Key {
  rejectUnsupported(ref, { provider: PROVIDER, supported: [] });
  const [namespace = '', name = ''] = ref.path.split('/');
  return { namespace, name };
}

/**
 * shared returns the Secret if it may be read for the requesting namespace. A Secret that may not be read is reported
 * like a missing one.
 */
function shared(secret: Secret | undefined, { path, namespace }: SecretRef, operation: string): Secret {
  const consent = secret?.metadata?.annotations?.[CONSENT_ANNOTATIONS.sharedWith] ?? '';
  const isShared = anyGlob(consent.split(',').map((pattern) => pattern.trim()));
  if (secret !== undefined && isShared(namespace)) return secret;
  throw new ProviderError(
    `the Secret ${path} does not exist or is not shared with the namespace ${namespace}: create it, or ask its owner to add the ` +
      `annotation ${CONSENT_ANNOTATIONS.sharedWith}: ${namespace}`,
    { kind: 'not-found', provider: PROVIDER, operation, code: 'NotFound' },
  );
}
