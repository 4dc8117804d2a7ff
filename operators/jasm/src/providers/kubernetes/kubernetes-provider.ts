import { Secret } from '@bowline/kubernetes';
import { anyGlob, type Clock } from '@bowline/machinery';
import { ApiError, BowlineError, type Client } from '@bowline/runtime';
import { CONSENT_ANNOTATIONS } from '../../api/names.ts';
import type { ExternalSecret, ProviderContext, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import { refuseUnsupported } from '../unsupported-fields.ts';

const PROVIDER = 'kubernetes';

/** Where a Secret is. */
interface Place {
  readonly namespace: string;
  readonly name: string;
}

/**
 * KubernetesProvider reads Secrets of other namespaces of the same cluster. A Secret is only read for the namespaces that it names
 * in its annotation `shared-with`; for all others it is as if it were not there, so that nobody learns what exists elsewhere.
 */
export class KubernetesProvider implements SecretProvider {
  readonly name = PROVIDER;
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #observe: ProviderContext<unknown>['observe'];

  constructor({ client, clock, observe }: Pick<ProviderContext<unknown>, 'client' | 'clock' | 'observe'>) {
    this.#client = client;
    this.#clock = clock;
    this.#observe = observe;
  }

  async fetchSecret(ref: SecretRef, signal: AbortSignal): Promise<ExternalSecret> {
    const place = placeOf(ref);
    const found = await this.#call('get', place, () => this.#client.find(Secret, place, { signal }), signal);
    const { metadata, data } = shared(found, ref, 'get');
    const entries = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
    return {
      provider: PROVIDER,
      sourcePath: ref.path,
      payload: { kind: 'entries', entries: Object.fromEntries(entries) },
      version: metadata.resourceVersion,
    };
  }

  /** probeVersion reads the metadata alone. A change of labels gives another version too: the content is then compared. */
  async probeVersion(ref: SecretRef, signal: AbortSignal): Promise<string | undefined> {
    const place = placeOf(ref);
    const { namespace, name } = place;
    const list = () =>
      this.#client.list(Secret, { namespace, fieldSelector: `metadata.name=${name}`, metadataOnly: true, signal });
    const { items } = await this.#call('list', place, list, signal);
    return shared(items[0], ref, 'list').metadata.resourceVersion;
  }

  async #call<T>(operation: string, place: Place, call: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const begun = this.#clock.monotonic();
    const observe = (code: string): void => this.#observe({ operation, code, ms: this.#clock.monotonic() - begun });
    try {
      const answer = await call();
      observe('OK');
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      const problem = problemOf(error, operation, place);
      observe(problem.code);
      throw problem;
    }
  }
}

function placeOf(ref: SecretRef): Place {
  refuseUnsupported(ref, { provider: PROVIDER, supported: [] });
  const [namespace = '', name = ''] = ref.path.split('/');
  return { namespace, name };
}

/** shared is the Secret if it may be read for the asking namespace. One that may not is told like one that is not there. */
function shared(secret: Secret | undefined, { path, namespace }: SecretRef, operation: string): Secret {
  const consent = secret?.metadata.annotations?.[CONSENT_ANNOTATIONS.sharedWith] ?? '';
  const isShared = anyGlob(consent.split(',').map((pattern) => pattern.trim()));
  if (secret !== undefined && isShared(namespace)) return secret;
  throw new ProviderError(
    `there is no Secret ${path} that is shared with the namespace ${namespace}: create it, or let its owner share it with the ` +
      `annotation ${CONSENT_ANNOTATIONS.sharedWith}: ${namespace}`,
    { kind: 'not-found', provider: PROVIDER, operation, code: 'NotFound' },
  );
}

function problemOf(error: unknown, operation: string, place: Place): ProviderError {
  const make = (kind: ProviderErrorKind, code: string, problem: string): ProviderError =>
    new ProviderError(`cannot read the Secret ${place.namespace}/${place.name}: ${problem}`, {
      kind,
      provider: PROVIDER,
      operation,
      code,
      retryAfterMs: error instanceof ApiError ? error.retryAfterMs : undefined,
    });
  if (error instanceof ApiError && error.retryable) {
    return make('transient', error.reason, 'the API server does not answer; it is tried again');
  }
  const isUndeclared = error instanceof BowlineError && error.code === 'BOWLINE_UNDECLARED_PERMISSION';
  if (isUndeclared || (error instanceof ApiError && [401, 403].includes(error.status))) {
    const where = `in the namespace ${place.namespace}`;
    return make('denied', 'Forbidden', `the operator may not ${operation} secrets ${where}; allow it, or work in the whole cluster`);
  }
  if (error instanceof ApiError) return make('refused', error.reason, `the API server says ${error.reason}`);
  if (error instanceof BowlineError) {
    return make(error.retryable ? 'transient' : 'refused', error.code, 'the API server cannot be reached');
  }
  return make('transient', 'Unknown', 'the call failed');
}
