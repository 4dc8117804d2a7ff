import { Secret } from '@bowline/kubernetes';
import { BowlineError } from '@bowline/runtime';
import { clusterCall } from '../kubernetes/cluster-call.ts';
import type { ExternalSecret, ProviderContext, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { mockSecret } from './mock-provider.ts';
import { MOCK_SECRET, type MockValues, readMockValues } from './mock-values.ts';

/**
 * ClusterMock is a mock whose secrets are stored in one Secret of the manager's namespace, so that users can change
 * them while the operator runs.
 */
export class ClusterMock implements SecretProvider {
  readonly name = 'mock';
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #context: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe' | 'namespace'>;

  constructor(context: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe' | 'namespace'>) {
    this.#context = context;
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const { client, clock, observe, namespace } = this.#context;
    const key = { namespace, name: MOCK_SECRET };
    const call = async () => {
      const values = valuesIn(await client.find(Secret, key, { signal }));
      return mockSecret(ref, values.get(ref.path), 'get');
    };
    return await clusterCall({ ...key, provider: 'mock', operation: 'get', clock, observe, call, signal });
  }

  /** probeVersion costs as much as reading: all data of the mock is in one Secret. */
  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
    const { version } = await this.fetchSecret(ref, signal);
    return version;
  }
}

function valuesIn(secret: Secret | undefined): MockValues {
  try {
    return readMockValues(secret);
  } catch (error) {
    if (!(error instanceof BowlineError)) throw error;
    throw new ProviderError(error.message, { kind: 'refused', provider: 'mock', operation: 'get', code: error.code });
  }
}
