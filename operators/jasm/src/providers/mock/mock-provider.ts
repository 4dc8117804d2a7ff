import { createHash } from 'node:crypto';
import type { ExternalSecret, ProviderContext, SecretPayload, SecretProvider, SecretRef } from '../provider.ts';
import { ProviderError } from '../provider-error.ts';
import { rejectUnsupported } from '../unsupported-fields.ts';

/** MockValue is a secret of a mock: values by key, which become a JSON object as in other stores, a text, or bytes. */
export type MockValue = Readonly<Record<string, string>> | string | Uint8Array;

/** MockProviderOptions configures a mock. */
export interface MockProviderOptions {
  /** Called for each call, as for other stores. Defaults to nothing. */
  readonly observe?: ProviderContext<unknown>['observe'];
}

/**
 * MockProvider is a store in memory, for tests.
 *
 * @example
 * const store = new MockProvider();
 * store.addSecret('/prod/db', { password: 'correct horse' });
 */
export class MockProvider implements SecretProvider {
  readonly name = 'mock';
  readonly capabilities = { versions: true, batch: false } as const;
  readonly #secrets = new Map<string, MockValue>();
  readonly #observe: ProviderContext<unknown>['observe'];

  constructor({ observe = () => {} }: MockProviderOptions = {}) {
    this.#observe = observe;
  }

  /** addSecret stores a secret under a path, and replaces an existing one. */
  addSecret(path: string, value: MockValue): void {
    this.#secrets.set(path, value);
  }

  /** clear removes all secrets. */
  clear(): void {
    this.#secrets.clear();
  }

  async fetchSecret(ref: SecretRef, signal?: AbortSignal): Promise<ExternalSecret> {
    return this.#read('fetchSecret', ref, signal);
  }

  async probeVersion(ref: SecretRef, signal?: AbortSignal): Promise<string | undefined> {
    return this.#read('probeVersion', ref, signal).version;
  }

  #read(operation: string, ref: SecretRef, signal: AbortSignal | undefined): ExternalSecret {
    signal?.throwIfAborted();
    try {
      const secret = mockSecret(ref, this.#secrets.get(ref.path), operation);
      this.#observe({ operation, code: 'OK', ms: 0 });
      return secret;
    } catch (error) {
      if (error instanceof ProviderError) this.#observe({ operation, code: error.code, ms: 0 });
      throw error;
    }
  }
}

/**
 * mockSecret returns the response of a mock that has this value at the path. The version is derived from the content.
 */
export function mockSecret(ref: SecretRef, value: MockValue | undefined, operation: string): ExternalSecret {
  rejectUnsupported(ref, { provider: 'mock', supported: ['versionId'] });
  const notFound = (message: string): ProviderError =>
    new ProviderError(message, { kind: 'not-found', provider: 'mock', operation, code: 'NotFound' });
  if (value === undefined) {
    throw notFound(
      `the mock has no secret at ${ref.path}: add it with \`bowline jasm mock set\`, or in a test with addSecret`,
    );
  }
  const payload = payloadOf(value);
  const version = createHash('sha256')
    .update(payload.kind === 'bytes' ? payload.bytes : payload.text)
    .digest('hex')
    .slice(0, 16);
  if (ref.versionId !== undefined && ref.versionId !== version) {
    throw notFound(`the mock has no version ${ref.versionId} of ${ref.path}: it keeps only the latest version`);
  }
  return { provider: 'mock', sourcePath: ref.path, payload, version };
}

function payloadOf(value: MockValue): Exclude<SecretPayload, { readonly kind: 'entries' }> {
  if (value instanceof Uint8Array) return { kind: 'bytes', bytes: value };
  return { kind: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) };
}
