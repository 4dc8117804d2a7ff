import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { ExternalSecret, SecretPayload, SecretProvider, SecretRef } from './provider.ts';
import { PathInvalid, ProviderError } from './provider-error.ts';

/** ContractStore is a store with a provider that reads from it, for one test. */
export interface ContractStore extends AsyncDisposable {
  readonly provider: SecretProvider;
  /**
   * ref returns a ref; the words `first`, `second` and `unknown` must result in different secrets that no other test
   * uses.
   */
  ref(word: string): SecretRef;
  /** put creates a secret or changes its fields. */
  put(ref: SecretRef, fields: Readonly<Record<string, string>>): unknown;
  /** remove deletes a secret permanently. */
  remove(ref: SecretRef): unknown;
  /** Credentials and similar texts that no message may contain. */
  readonly credentials: readonly string[];
  /** The observed operations and codes, for instance `GetSecretValue OK`. */
  readonly observed: readonly string[];
  /** deny revokes our permission to read a secret. */
  deny?(ref: SecretRef): unknown;
  /** failOnce makes the next call fail like a store that is unavailable. */
  failOnce?(how: 'status' | 'connection'): unknown;
  /** hangOnce leaves the next call unanswered; the returned promise resolves when that call has arrived. */
  hangOnce?(): Promise<void>;
  /** putEmpty creates a secret without fields, or one without a value. */
  putEmpty?(ref: SecretRef): unknown;
}

/** ContractOptions configures which parts of the contract apply to a store. */
export interface ContractOptions {
  readonly setup: () => Promise<ContractStore>;
  /** What the store does not have, or the test cannot cause. Defaults to nothing. */
  readonly lacks?: readonly ('denial' | 'failure' | 'hanging' | 'emptiness')[];
  /** The result of reading an empty secret. Defaults to empty: a secret without fields. */
  readonly empty?: 'empty' | 'not-found';
  /** Paths that are not valid for the provider. */
  readonly invalidPaths: readonly string[];
  /** ProviderKind.names with some configuration. */
  readonly names: (path: string) => readonly string[];
}

/** Appears in a message only if a value has leaked into it. */
const CANARY = 'canary-7f3a91c2';
const NEVER = new AbortController().signal;

/** providerContract tests what every provider guarantees to its callers. */
export function providerContract(name: string, options: ContractOptions): void {
  const { setup, lacks = [], empty = 'empty', invalidPaths, names } = options;

  describe(`the contract of ${name}`, () => {
    it('returns the stored secret with its provider and path', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      const fields = { user: 'app', password: 'grüße "and" \\ more\n\u{1f511}' };
      await store.put(ref, fields);
      const secret = await store.provider.fetchSecret(ref, NEVER);
      expect(fieldsOf(secret.payload)).toEqual(fields);
      expect([secret.provider, secret.sourcePath]).toEqual([store.provider.name, ref.path]);
    });

    it('returns large secrets completely', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      const fields = { a: 'x'.repeat(30_000), b: 'ä'.repeat(15_000) };
      await store.put(ref, fields);
      expect(fieldsOf((await store.provider.fetchSecret(ref, NEVER)).payload)).toEqual(fields);
    });

    it('returns the current value each time', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      for (const value of ['one', 'two', 'three']) {
        await store.put(ref, { value });
        expect(fieldsOf((await store.provider.fetchSecret(ref, NEVER)).payload)).toEqual({ value });
      }
    });

    it.skipIf(lacks.includes('emptiness'))(`reports an empty secret as ${empty}`, async () => {
      await using store = await setup();
      const ref = store.ref('first');
      await store.putEmpty?.(ref);
      if (empty === 'empty') expect(fieldsOf((await store.provider.fetchSecret(ref, NEVER)).payload)).toEqual({});
      else expect((await failureOf(store, ref)).kind).toBe('not-found');
    });

    it('reports an unknown path as not found, and names the path', async () => {
      await using store = await setup();
      const ref = store.ref('unknown');
      const error = await failureOf(store, ref);
      expect([error.kind, error.provider]).toEqual(['not-found', store.provider.name]);
      expect(error.message).toContain(ref.path);
    });

    it('reports the same problem with the same single-line message', async () => {
      await using store = await setup();
      const { message } = await failureOf(store, store.ref('unknown'));
      expect((await failureOf(store, store.ref('unknown'))).message).toBe(message);
      expect(message).toMatch(/^[^\n]{10,}[^.\n]$/);
    });

    it.skipIf(lacks.includes('denial'))('distinguishes a missing permission from a missing secret', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      await store.put(ref, { value: CANARY });
      await store.deny?.(ref);
      const error = await failureOf(store, ref);
      expect(error.kind).toBe('denied');
      expect(error.message).toContain(ref.path);
    });

    it.skipIf(lacks.includes('failure')).each(['status', 'connection'] as const)(
      'makes one attempt, reports a failure of the %s as transient, and succeeds afterwards',
      async (how) => {
        await using store = await setup();
        const ref = store.ref('first');
        await store.put(ref, { value: CANARY });
        // Logins and discovery happen first.
        await store.provider.fetchSecret(ref, NEVER);
        const before = store.observed.length;
        await store.failOnce?.(how);
        expect((await failureOf(store, ref)).kind).toBe('transient');
        expect(store.observed.slice(before)).toHaveLength(1);
        expect(fieldsOf((await store.provider.fetchSecret(ref, NEVER)).payload)).toEqual({ value: CANARY });
      },
    );

    it('observes each call with its operation and result code', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      await store.put(ref, { value: 'one' });
      await store.provider.fetchSecret(ref, NEVER);
      expect(store.observed.at(-1)).toMatch(/^[A-Za-z]+ OK$/);
      const { operation, code } = await failureOf(store, store.ref('unknown'));
      expect(store.observed.at(-1)).toBe(`${operation} ${code}`);
    });

    it('exposes neither values nor credentials in its errors', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      await store.put(ref, { value: CANARY });
      await store.provider.fetchSecret(ref, NEVER);
      const errors = [await failureOf(store, store.ref('unknown'))];
      if (store.failOnce && !lacks.includes('failure')) {
        await store.failOnce('status');
        errors.push(await failureOf(store, ref));
      }
      if (store.deny && !lacks.includes('denial')) {
        await store.deny(ref);
        errors.push(await failureOf(store, ref));
      }
      for (const error of errors) {
        const shown = inspect(error, { depth: 10, showHidden: true }) + String(error.stack);
        for (const hidden of [CANARY, ...store.credentials]) expect(shown).not.toContain(hidden);
      }
    });

    it.skipIf(lacks.includes('hanging'))(
      'rejects with the reason of its signal, also while the store does not respond',
      async () => {
        await using store = await setup();
        const ref = store.ref('first');
        await store.put(ref, { value: 'one' });
        await store.provider.fetchSecret(ref, NEVER);
        const leaving = new AbortController();
        const hanging = store.hangOnce?.();
        const read = store.provider.fetchSecret(ref, leaving.signal);
        const ended = expect(read).rejects.toThrow('leaving');
        await hanging;
        leaving.abort(new Error('leaving'));
        await ended;
      },
    );

    it('makes no call if its signal is already aborted', async () => {
      await using store = await setup();
      const ref = store.ref('first');
      await store.put(ref, { value: 'one' });
      const before = store.observed.length;
      const aborted = AbortSignal.abort(new Error('leaving'));
      await expect(store.provider.fetchSecret(ref, aborted)).rejects.toThrow('leaving');
      expect(store.observed.slice(before).filter((call) => call.endsWith('OK'))).toEqual([]);
    });

    it('implements its declared capabilities', async () => {
      await using store = await setup();
      const { capabilities, probeVersion, fetchSecrets } = store.provider;
      expect([probeVersion !== undefined, fetchSecrets !== undefined]).toEqual([
        capabilities.versions,
        capabilities.batch,
      ]);
    });

    it('returns the version that it would read, which changes only with the value', async () => {
      await using store = await setup();
      if (!store.provider.capabilities.versions) return;
      const ref = store.ref('first');
      await store.put(ref, { value: 'one' });
      const one = await versionOf(store, ref);
      expect(await versionOf(store, ref)).toBe(one);
      await store.put(ref, { value: 'two' });
      const two = await versionOf(store, ref);
      expect(two).not.toBe(one);
      await store.remove(ref);
      await store.put(ref, { value: 'three' });
      expect([one, two]).not.toContain(await versionOf(store, ref));
    });

    it('returns no version for a missing secret', async () => {
      await using store = await setup();
      if (!store.provider.probeVersion) return;
      const probe = store.provider.probeVersion(store.ref('unknown'), NEVER);
      expect(await probe.catch((error: unknown) => (error as ProviderError).kind)).toBe('not-found');
    });

    it('reads several secrets in order, each with its own error', async () => {
      await using store = await setup();
      if (!store.provider.fetchSecrets) return;
      const refs = ['second', 'unknown', 'first'].map((word) => store.ref(word));
      const [second, , first] = refs as [SecretRef, SecretRef, SecretRef];
      await store.put(first, { value: 'one' });
      await store.put(second, { value: 'two' });
      const [two, unknown, one] = await store.provider.fetchSecrets(refs, NEVER);
      expect([two, one].map((each) => fieldsOf((each as ExternalSecret).payload))).toEqual([
        { value: 'two' },
        { value: 'one' },
      ]);
      expect([two, one].map((each) => (each as ExternalSecret).sourcePath)).toEqual([second.path, first.path]);
      expect(unknown).toBeInstanceOf(ProviderError);
      expect(unknown).toMatchObject({ kind: 'not-found' });
      expect(await store.provider.fetchSecrets([], NEVER)).toEqual([]);
    });

    it.each(invalidPaths.map((path) => [path]))('has no secret at %j', (path) => {
      expect(() => names(path)).toThrow(PathInvalid);
    });

    it('reads a path by its first name', async () => {
      await using store = await setup();
      const { path } = store.ref('first');
      expect(names(path)[0]).toBe(path);
    });
  });
}

/** fieldsOf returns the texts of a payload by key. */
export function fieldsOf(payload: SecretPayload): Record<string, string> {
  switch (payload.kind) {
    case 'text':
      return JSON.parse(payload.text) as Record<string, string>;
    case 'entries':
      return Object.fromEntries(
        Object.entries(payload.entries).map(([key, bytes]) => [key, Buffer.from(bytes).toString()]),
      );
    case 'bytes':
      throw new Error('expected text or entries, but got bytes');
  }
}

async function failureOf({ provider }: ContractStore, ref: SecretRef): Promise<ProviderError> {
  const error = await provider.fetchSecret(ref, NEVER).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ProviderError) return error;
  throw new Error(`not a ProviderError: ${String(error)}`, { cause: error });
}

/** versionOf returns the version of a probe; a read must return the same. */
async function versionOf({ provider }: ContractStore, ref: SecretRef): Promise<string> {
  const version = await provider.probeVersion?.(ref, NEVER);
  expect((await provider.fetchSecret(ref, NEVER)).version).toBe(version);
  if (version === undefined) throw new Error('the provider does not implement probeVersion');
  return version;
}
