import { keyString, type ObjectKey, Secret } from '@bowline/kubernetes';
import { type Clock, forEachConcurrently, WakeSignal } from '@bowline/machinery';
import type { Log } from '@bowline/runtime';
import { ApiError, type Client } from '@bowline/runtime/client';
import type { ServiceInformer } from '@bowline/runtime/manager';
import type { ReceiverSecrets, SyncKey } from './authenticator.ts';
import type { WebhookTarget } from './decide-request.ts';
import type { ReceiverEnvironment } from './receiver-environment.ts';
import { type SharedSecret, sharedSecret } from './shared-secret.ts';

/** BackgroundSecretsOptions configures which secrets are read. */
export interface BackgroundSecretsOptions {
  readonly client: Pick<Client, 'find'>;
  /** The IgnitionSyncs, from the cache. */
  readonly syncs: Pick<ServiceInformer<WebhookTarget>, 'get' | 'list' | 'subscribe'>;
  /** isTrustedIn reports whether IgnitionSyncs of a namespace may make the operator read a Secret. */
  readonly isTrustedIn: (namespace: string) => boolean;
  /** The Secret with the keys hmac and token. Defaults to the environment. */
  readonly globalSecret?: ObjectKey | undefined;
  readonly environment: ReceiverEnvironment;
  readonly clock: Clock;
  readonly log: Log;
}

/** INTERVAL_MS is how often every Secret is read again: a changed one takes effect after this time at the latest. */
export const INTERVAL_MS = 60_000;
/**
 * MAX_AGE_MS is how long a secret is used that could not be read again, because the API server does not answer. A
 * Secret that is missing, or may not be read, is no longer used at once.
 */
export const MAX_AGE_MS = 5 * INTERVAL_MS;
const MAX_CONCURRENT_READS = 4;
const READ_TIMEOUT_MS = 10_000;
const GLOBAL_KEYS = ['hmac', 'token'] as const;

interface KnownSecret {
  readonly value: SharedSecret;
  readonly readAt: number;
}

/** ReferencedSecret is a Secret with the keys that are used of it. No other value is kept. */
interface ReferencedSecret {
  readonly key: ObjectKey;
  readonly names: Set<string>;
}

/**
 * BackgroundSecrets reads the secrets of the receiver when an IgnitionSync appears or changes and every minute, and
 * never because of a request. Secrets are stored by what references them, so a changed `secretRef` takes effect at once.
 */
export class BackgroundSecrets implements ReceiverSecrets {
  readonly #options: BackgroundSecretsOptions;
  readonly #wake: WakeSignal;
  /** By Secret, then by key. */
  readonly #known = new Map<string, ReadonlyMap<string, KnownSecret>>();
  /** The last problem with each Secret, so that it is logged once. */
  readonly #problems = new Map<string, string>();
  /** Secrets to read before the next interval. */
  readonly #due = new Set<string>();
  #isRechecked = false;

  constructor(options: BackgroundSecretsOptions) {
    this.#options = options;
    this.#wake = new WakeSignal(options.clock);
  }

  hmac(): SharedSecret | undefined {
    return this.#global('hmac');
  }

  token(): SharedSecret | undefined {
    return this.#global('token');
  }

  ofSync(key: SyncKey): SharedSecret | undefined {
    const ref = this.#options.syncs.get(key)?.spec.webhook.secretRef;
    return ref && this.#find({ namespace: key.namespace, name: ref.name }, ref.key);
  }

  /** readAll reads every Secret once. It does not reject. */
  async readAll(signal: AbortSignal): Promise<void> {
    this.#due.clear();
    const referenced = this.#referenced();
    for (const id of this.#known.keys()) if (!referenced.has(id)) this.#known.delete(id);
    for (const id of this.#problems.keys()) if (!referenced.has(id)) this.#problems.delete(id);
    await this.#read(referenced.values(), signal);
  }

  /** run reads the Secrets until the signal is aborted. Call `readAll` first. */
  async run(signal: AbortSignal): Promise<void> {
    const { syncs, clock } = this.#options;
    using _changes = syncs.subscribe(({ current, previous, initial }) => {
      const isKnown = initial || current?.metadata?.generation === previous?.metadata?.generation;
      if (current && !isKnown) this.#schedule(current);
    });
    let nextAt = clock.monotonic() + INTERVAL_MS;
    for (;;) {
      await this.#wake.wait(nextAt - clock.monotonic(), signal);
      if (signal.aborted) return;
      if (this.#isRechecked || clock.monotonic() >= nextAt) {
        this.#isRechecked = false;
        await this.readAll(signal);
        nextAt = clock.monotonic() + INTERVAL_MS;
      } else {
        const referenced = this.#referenced();
        const due = [...this.#due].flatMap((id) => referenced.get(id) ?? []);
        this.#due.clear();
        await this.#read(due, signal);
      }
    }
  }

  /** recheck reads every Secret soon, for example because other namespaces are trusted. */
  recheck(): void {
    this.#isRechecked = true;
    this.#wake.wake();
  }

  #schedule({ metadata, spec }: WebhookTarget): void {
    const { secretRef } = spec.webhook;
    if (!secretRef) return;
    this.#due.add(keyString({ namespace: metadata?.namespace, name: secretRef.name }));
    this.#wake.wake();
  }

  /** referenced returns the Secrets to read: those of IgnitionSyncs that receive webhooks, where they are trusted. */
  #referenced(): ReadonlyMap<string, ReferencedSecret> {
    const { syncs, globalSecret, isTrustedIn } = this.#options;
    const all = new Map<string, ReferencedSecret>();
    const add = (key: ObjectKey, name: string): void => {
      const id = keyString(key);
      const known = all.get(id);
      if (known) known.names.add(name);
      else all.set(id, { key, names: new Set([name]) });
    };
    if (globalSecret) for (const name of GLOBAL_KEYS) add(globalSecret, name);
    const trusted = new Map<string, boolean>();
    for (const { metadata, spec } of syncs.list()) {
      const { enabled, secretRef } = spec.webhook;
      const { namespace = '' } = metadata ?? {};
      if (!enabled || !secretRef) continue;
      const isTrusted = trusted.get(namespace) ?? isTrustedIn(namespace);
      trusted.set(namespace, isTrusted);
      if (isTrusted) add({ namespace, name: secretRef.name }, secretRef.key);
    }
    return all;
  }

  async #read(secrets: Iterable<ReferencedSecret>, signal: AbortSignal): Promise<void> {
    const read = (secret: ReferencedSecret): Promise<void> => this.#readOne(secret, signal);
    // Only an aborted signal rejects, and then the result no longer matters.
    await forEachConcurrently(secrets, MAX_CONCURRENT_READS, read, { signal }).catch(() => undefined);
  }

  async #readOne({ key, names }: ReferencedSecret, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    const timeout = new AbortController();
    using _timer = clock.setTimer(READ_TIMEOUT_MS, () => timeout.abort());
    try {
      const found = await client.find(Secret, key, { signal: AbortSignal.any([signal, timeout.signal]) });
      const readAt = clock.monotonic();
      const values = [...names].flatMap((name) => {
        const value = sharedSecret(Buffer.from(found?.data?.[name] ?? '', 'base64'));
        return value ? [[name, { value, readAt }] as const] : [];
      });
      this.#known.set(keyString(key), new Map(values));
      const problem = found ? 'it has none of the keys that are used, or they are empty' : 'it does not exist';
      this.#report(key, values.length === 0 ? problem : undefined);
    } catch (error) {
      if (signal.aborted) return;
      const isForbidden = error instanceof ApiError && error.status === 403;
      if (isForbidden) this.#known.delete(keyString(key));
      this.#report(key, isForbidden ? 'the operator may not read it' : 'the API server did not return it');
    }
  }

  #report(key: ObjectKey, problem: string | undefined): void {
    const id = keyString(key);
    if (this.#problems.get(id) === problem) return;
    if (problem === undefined) {
      this.#problems.delete(id);
      return;
    }
    this.#problems.set(id, problem);
    const { namespace, name } = key;
    this.#options.log.warn('cannot use a Secret of the receiver', { namespace, secret: name, problem });
  }

  #global(name: (typeof GLOBAL_KEYS)[number]): SharedSecret | undefined {
    const { globalSecret, environment } = this.#options;
    return globalSecret ? this.#find(globalSecret, name) : environment[name];
  }

  #find(key: ObjectKey, name: string): SharedSecret | undefined {
    const known = this.#known.get(keyString(key))?.get(name);
    const isUsable = known !== undefined && this.#options.clock.monotonic() - known.readAt <= MAX_AGE_MS;
    return isUsable ? known.value : undefined;
  }
}
