import { type ObjectKey, Secret } from '@bowline/kubernetes';
import { between, type Clock, type Random } from '@bowline/machinery';
import type { Cache } from '../../cache/cache.ts';
import type { Informer } from '../../cache/informer.ts';
import { project } from '../../cache/view.ts';
import type { Client } from '../../client/client.ts';
import { isAlreadyExists, isConflict } from '../../errors/api-error.ts';
import { BowlineError } from '../../errors/bowline-error.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { OPERATOR_LABEL } from '../configurations.ts';
import type { CertificateSource, TlsMaterial } from './certificate-source.ts';
import {
  bundleOf,
  type CertificateState,
  readState,
  type SecretView,
  type StateRead,
  secretOf,
  viewSecret,
} from './certificate-state.ts';
import { Doorbell } from './doorbell.ts';
import { type Authority, isIssuedBy, type Leaf, readAuthorities } from './pem.ts';
import { type CertificatePolicy, leafProblem, plan } from './plan.ts';
import { RepeatLimit } from './repeat-limit.ts';
import { ServedCertificate } from './served-certificate.ts';
import { takeStep } from './take-step.ts';
import type { Trust } from './trust.ts';

/** ManagedCertificatesOptions is where certificates are kept and who must trust them. */
export interface ManagedCertificatesOptions {
  readonly client: Pick<Client, 'find' | 'create' | 'update'>;
  readonly cache: Pick<Cache, 'informer' | 'recordWrite'>;
  readonly operator: string;
  readonly secret: ObjectKey;
  readonly trust: Trust;
  readonly policy: CertificatePolicy;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Timers run on a clock that a suspended machine stops; the wall clock is looked at no less often than this. */
const LONGEST_WAIT_MS = 12 * 3_600_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
/** The cache is behind what was just read from the API: it will ring when it has caught up. */
const CATCH_UP_MS = 1_000;

const view = project(viewSecret);

/**
 * ManagedCertificates issues and rotates the certificate of an operator's webhooks. Everything that replicas share is in one
 * Secret, which any of them writes with optimistic locking and all read by watch. The rules:
 * - a new authority is in every configuration for a while before the first leaf of it is issued;
 * - a replica serves a new leaf only once it sees the leaf's authority in every configuration, whoever wrote the Secret;
 * - an old authority stays in the configurations until the last leaf of it has expired, so whichever leaf a replica serves
 *   is trusted.
 */
export class ManagedCertificates implements CertificateSource {
  readonly #options: ManagedCertificatesOptions;
  readonly #log: Log;
  readonly #informer: Informer<SecretView>;
  readonly #served: ServedCertificate;
  readonly #bell: Doorbell;
  readonly #repairs: RepeatLimit;
  /** The last state that was whole: what a damaged Secret is repaired from. */
  #known: CertificateState | undefined;
  #intact: { readonly version: string; readonly state: StateRead } | undefined;
  #servedLeaf: { readonly leaf: Leaf; readonly issuer: Authority } | undefined;
  #trustedSince: { readonly fingerprint: string; readonly at: number } | undefined;

  constructor(options: ManagedCertificatesOptions) {
    const { namespace = '', name } = options.secret;
    this.#options = options;
    this.#log = options.log.with({ secret: name });
    this.#informer = options.cache.informer(Secret, {
      view,
      namespaces: [namespace],
      fieldSelector: `metadata.name=${name}`,
    });
    this.#served = new ServedCertificate(options.operator, this.#log, options.metrics);
    this.#bell = new Doorbell(options.clock);
    this.#repairs = new RepeatLimit(options.clock);
  }

  get current(): TlsMaterial | undefined {
    return this.#served.current;
  }

  subscribe(listener: (certificate: TlsMaterial) => void): Disposable {
    return this.#served.subscribe(listener);
  }

  problem(): Error | undefined {
    return this.#served.problem;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { trust, random } = this.#options;
    using _served = this.#served;
    using _secret = this.#informer.subscribe(() => this.#bell.ring());
    using _trust = trust.subscribe(() => this.#bell.ring());
    let retryMs = FIRST_RETRY_MS;
    try {
      await Promise.all([this.#informer.synced(signal), trust.synced(signal)]);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    while (!signal.aborted) {
      let waitMs: number;
      try {
        waitMs = await this.#work(signal);
        retryMs = FIRST_RETRY_MS;
        this.#served.succeeded();
      } catch (error) {
        if (signal.aborted) return;
        if (isConflict(error) || isAlreadyExists(error)) {
          // Another replica was quicker: look at what it wrote.
          waitMs = between(random, 10, 200);
        } else {
          this.#served.failed(error instanceof Error ? error : new Error('unexpected failure', { cause: error }));
          waitMs = between(random, retryMs / 2, retryMs);
          retryMs = Math.min(LONGEST_RETRY_MS, retryMs * 2);
        }
      }
      await this.#bell.wait(Math.min(waitMs, LONGEST_WAIT_MS), signal);
    }
  }

  /** Does what is due and gives the time until something will be. */
  async #work(signal: AbortSignal): Promise<number> {
    const { trust, clock } = this.#options;
    const read = this.#read(this.#informer.get(this.#options.secret));
    this.#serve(read);
    const state = this.#withServed(read);
    const next = this.#plan(state);
    if (next.step !== undefined) return (await this.#write(signal)) ? 0 : CATCH_UP_MS;
    this.#known = state;
    if (trust.isCurrent(bundleOf(state))) return next.lookAgainAt - clock.now();
    await trust.spread(() => this.#liveBundle(signal), signal);
    return CATCH_UP_MS;
  }

  #read(secret: SecretView | undefined): StateRead {
    const { uid, resourceVersion } = secret?.metadata ?? {};
    const version = `${uid}/${resourceVersion}`;
    if (secret && this.#intact?.version === version) return this.#intact.state;
    const trusted = this.#options.trust.bundles().flatMap(readAuthorities);
    const state = readState(secret, { known: this.#known, trusted });
    // An intact Secret says the same whatever else is known.
    if (state.damage.length === 0) this.#intact = { version, state };
    return state;
  }

  #plan(state: StateRead) {
    const now = this.#options.clock.now();
    return plan(state, this.#options.policy, { now, nextTrustedSince: this.#nextTrustedSince(state.next, now) });
  }

  #nextTrustedSince(next: Authority | undefined, now: number): number | undefined {
    if (!next || !this.#isTrusted(next)) this.#trustedSince = undefined;
    else if (this.#trustedSince?.fingerprint !== next.fingerprint) {
      this.#trustedSince = { fingerprint: next.fingerprint, at: now };
    }
    return this.#trustedSince?.at;
  }

  #isTrusted({ certificatePem }: Authority): boolean {
    return this.#options.trust.bundles().every((bundle) => bundle.includes(certificatePem.trim()));
  }

  /** A leaf that API servers do not trust yet waits, as long as there is one that they do. */
  #serve(state: StateRead): void {
    const { leaf } = state;
    const { policy, clock } = this.#options;
    const served = this.#served.current;
    if (!leaf || leafProblem(leaf, state, policy, clock.now())) return;
    const issuer = [state.current, state.next, ...state.previous].find((each) => each && isIssuedBy(leaf, each));
    if (!issuer || leaf.fingerprint === served?.fingerprint) return;
    if (served && served.notAfter > clock.now() && !this.#isTrusted(issuer)) return;
    this.#servedLeaf = { leaf, issuer };
    this.#served.serve(leafMaterial(leaf));
  }

  /**
   * A Secret that somebody replaced may not know the authority of what is served here: it is added, so that the
   * configurations lose it only when nobody serves a certificate of it any more.
   */
  #withServed(state: StateRead): StateRead {
    const served = this.#servedLeaf;
    const authorities = [state.current, state.next, ...state.previous].filter((each) => each !== undefined);
    if (!served || served.leaf.notAfter <= this.#options.clock.now()) return state;
    if (authorities.some((each) => each.fingerprint === served.issuer.fingerprint)) return state;
    return {
      ...state,
      previous: [...state.previous, { ...served.issuer, keyPem: undefined }],
      previousUntil: Math.max(state.previousUntil ?? 0, served.leaf.notAfter),
      damage: [...state.damage, 'ca.crt lacks the authority of the certificate that is served'],
    };
  }

  /** Writes the next step, planned anew on what the API server has now. Gives whether there was one. */
  async #write(signal: AbortSignal): Promise<boolean> {
    const { client, cache, operator, policy, clock, secret: key } = this.#options;
    const found = await client.find(Secret, key, { signal });
    const seen = found && viewSecret(found);
    this.#refuseForeign(seen);
    const state = this.#withServed(this.#read(seen));
    const { step, reason } = { reason: '', ...this.#plan(state) };
    if (step === undefined) return false;
    if (state.damage.length > 0) this.#repairs.take(`the Secret ${key.namespace}/${key.name}`, '');
    let after = await takeStep(step, state, { operator, policy, now: clock.now() });
    // Deleting the Secret is how people ask for new keys: the old ones come back only until the new ones are trusted.
    if (!found && step === 'repair') after = await takeStep('introduce', after, { operator, policy, now: clock.now() });
    const options = { signal, fieldManager: `bowline-${operator}-webhooks` };
    const wanted = secretOf(operator, after, { ...found?.metadata, ...key }, found?.type);
    const written = found ? await client.update(Secret, wanted, options) : await client.create(Secret, wanted, options);
    cache.recordWrite(Secret, written);
    this.#log.info('wrote the webhook certificates', { step, reason });
    return true;
  }

  /** A Secret without our label was made by somebody else, unless it is empty. */
  #refuseForeign(found: SecretView | undefined): void {
    const { operator, secret } = this.#options;
    if (!found || found.metadata.labels?.[OPERATOR_LABEL] === operator) return;
    if (Object.values(found.data).every((value) => value === '')) return;
    throw new BowlineError(
      'BOWLINE_WEBHOOK_SECRET_FOREIGN',
      `cannot keep webhook certificates in the Secret ${secret.namespace}/${secret.name}: it lacks the label ${OPERATOR_LABEL}=${operator}, so somebody else made it; delete it, or configure it as a given certificate`,
    );
  }

  /** What the Secret says now; undefined when it is not whole: then there is nothing to spread yet. */
  async #liveBundle(signal: AbortSignal): Promise<string | undefined> {
    const found = await this.#options.client.find(Secret, this.#options.secret, { signal });
    const state = found && readState(viewSecret(found), { known: undefined, trusted: [] });
    return state && state.damage.length === 0 ? bundleOf(state) : undefined;
  }
}

function leafMaterial({ certificatePem, keyPem, fingerprint, notAfter }: Leaf): TlsMaterial {
  return { certificatePem, keyPem, fingerprint, notAfter };
}
