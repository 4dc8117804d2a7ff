import { type ObjectKey, Secret } from '@bowline/kubernetes';
import type { Cache } from '../cache/cache.ts';
import type { Informer } from '../cache/informer.ts';
import { project } from '../cache/view.ts';
import type { Client } from '../client/client.ts';
import { BowlineError } from '../errors/bowline-error.ts';
import type { Log } from '../observability/log.ts';
import {
  bundleOf,
  type CertificateState,
  readState,
  type SecretView,
  type StateRead,
  secretOf,
  viewSecret,
} from './certificate-state.ts';
import { MaintainedCertificate, type MaintainedCertificateOptions } from './maintained-certificate.ts';
import { type Authority, isIssuedBy, type Leaf, readAuthorities, readUsableLeaf } from './pem.ts';
import { type CertificatePolicy, leafProblem, plan } from './plan.ts';
import { RepeatLimit } from './repeat-limit.ts';
import { takeStep } from './take-step.ts';
import type { Trust } from './trust.ts';

/** ManagedCertificatesOptions configures where certificates are stored and who must trust them. */
export interface ManagedCertificatesOptions extends MaintainedCertificateOptions {
  readonly client: Pick<Client, 'find' | 'create' | 'update'>;
  readonly cache: Pick<Cache, 'informer' | 'recordWrite'>;
  readonly secret: ObjectKey;
  readonly trust: Trust;
  readonly policy: CertificatePolicy;
  /** A Secret with this annotation is maintained by another controller and only read. Defaults to none. */
  readonly providedAnnotation?: string | undefined;
  /** Called with every state that was read, before the next step is planned. */
  readonly onState?: ((state: CertificateState) => void) | undefined;
}

/** The cache lags behind a live read: the cache wakes the loop when it has caught up. */
const CATCH_UP_MS = 1_000;

const view = project(viewSecret);

/**
 * ManagedCertificates issues and rotates a CA and a certificate of an operator. All state shared by replicas is in one
 * Secret, which any replica writes with optimistic locking and all replicas watch. The rules, where a bundle is a place
 * that must trust the CA, such as a webhook configuration:
 * - a new CA is in every bundle for a while before its first leaf is issued;
 * - a replica serves a new leaf only once it sees the leaf's CA in every bundle, whichever replica wrote the Secret;
 * - an old CA stays in the bundles until its last leaf has expired, so that every served leaf is trusted.
 */
export class ManagedCertificates extends MaintainedCertificate {
  protected readonly maxRetryMs = 60_000;
  readonly #options: ManagedCertificatesOptions;
  readonly #log: Log;
  readonly #informer: Informer<SecretView>;
  readonly #repairs: RepeatLimit;
  /** The last undamaged state, from which a damaged Secret is repaired. */
  #known: CertificateState | undefined;
  #intact: { readonly version: string; readonly state: StateRead } | undefined;
  #servedLeaf: { readonly leaf: Leaf; readonly issuer: Authority } | undefined;
  #trustedSince: { readonly fingerprint: string; readonly at: number } | undefined;

  constructor(options: ManagedCertificatesOptions) {
    const { namespace = '', name } = options.secret;
    const log = options.log.with({ secret: name });
    super({ ...options, log });
    this.#options = options;
    this.#log = log;
    this.#informer = options.cache.informer(Secret, {
      view,
      namespaces: [namespace],
      fieldSelector: `metadata.name=${name}`,
    });
    this.#repairs = new RepeatLimit(options.clock, options.profile.codes.contested);
  }

  protected watch(changed: () => void): readonly Disposable[] {
    return [this.#informer.subscribe(changed), this.#options.trust.subscribe(changed)];
  }

  protected ready(signal: AbortSignal): Promise<unknown> {
    return Promise.all([this.#informer.synced(signal), this.#options.trust.synced(signal)]);
  }

  protected async work(signal: AbortSignal): Promise<number> {
    const { trust, clock } = this.#options;
    const secret = this.#informer.get(this.#options.secret);
    if (this.#isProvided(secret)) return this.#useProvided(secret);
    const read = this.#read(secret);
    this.#serveTrusted(read);
    const state = this.#withServed(read);
    this.#options.onState?.(state);
    const next = this.#plan(state);
    if (next.step !== undefined) return (await this.#write(signal)) ? 0 : CATCH_UP_MS;
    this.#known = state;
    if (trust.isCurrent(bundleOf(state))) {
      this.announce();
      return next.nextCheckAt - clock.now();
    }
    await trust.distribute(() => this.#liveBundle(signal), signal);
    return CATCH_UP_MS;
  }

  #isProvided(secret: SecretView | undefined): secret is SecretView {
    const { providedAnnotation } = this.#options;
    return providedAnnotation !== undefined && secret?.metadata.annotations?.[providedAnnotation] !== undefined;
  }

  /** Uses what another controller maintains, as it is. Without the key of the CA it cannot issue anything. */
  #useProvided(secret: SecretView): number {
    const { profile, policy, clock, secret: key } = this.#options;
    const text = (field: string): string => Buffer.from(secret.data[field] ?? '', 'base64').toString('utf8');
    const keyPair = { certificatePem: text('tls.crt'), keyPem: text('tls.key') };
    const where = `the Secret ${key.namespace}/${key.name}`;
    const leaf = readUsableLeaf(where, keyPair, { names: policy.names, now: clock.now(), terms: profile });
    const state = { ...readState(profile, secret, { known: undefined, trusted: [] }), leaf, previousUntil: undefined };
    // Taken over later, its CAs stay trusted like those of any other state.
    this.#known = state;
    this.serve(leaf);
    this.#options.onState?.(state);
    this.announce();
    return leaf.notAfter - clock.now();
  }

  #read(secret: SecretView | undefined): StateRead {
    const { uid, resourceVersion } = secret?.metadata ?? {};
    const version = `${uid}/${resourceVersion}`;
    if (secret && this.#intact?.version === version) return this.#intact.state;
    const trusted = this.#options.trust.ownBundles().flatMap(readAuthorities);
    const state = readState(this.#options.profile, secret, { known: this.#known, trusted });
    // An intact Secret always results in the same state, whatever else is known.
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

  /** A leaf that is not trusted everywhere yet is not served while there is one that is. */
  #serveTrusted(state: StateRead): void {
    const { leaf } = state;
    const { policy, clock } = this.#options;
    const served = this.current;
    if (!leaf || leafProblem(leaf, state, policy, clock.now())) return;
    const issuer = [state.current, state.next, ...state.previous].find((each) => each && isIssuedBy(leaf, each));
    if (!issuer || leaf.fingerprint === served?.fingerprint) return;
    if (served && served.notAfter > clock.now() && !this.#isTrusted(issuer)) return;
    this.#servedLeaf = { leaf, issuer };
    this.serve(leaf);
  }

  /**
   * A Secret that was replaced may lack the CA of the certificate served here: add it, so that the bundles drop it
   * only when no replica serves one of its certificates any more.
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
      damage: [...state.damage, 'ca.crt lacks the CA of the served certificate'],
    };
  }

  /**
   * #write writes the next step, planned again on the current state of the API server. Returns whether there was one.
   */
  async #write(signal: AbortSignal): Promise<boolean> {
    const { client, cache, profile, policy, clock, secret: key } = this.#options;
    const found = await client.find(Secret, key, { signal });
    const seen = found && viewSecret(found);
    if (this.#isProvided(seen)) return false;
    this.#refuseForeign(seen);
    const state = this.#withServed(this.#read(seen));
    const { step, reason } = { reason: '', ...this.#plan(state) };
    if (step === undefined) return false;
    if (state.damage.length > 0) this.#repairs.take(`the Secret ${key.namespace}/${key.name}`, '');
    let after = await takeStep(step, state, { policy, now: clock.now() });
    // Users delete the Secret to request new keys: the old ones are restored only until the new ones are trusted.
    if (!found && step === 'repair') after = await takeStep('introduce', after, { policy, now: clock.now() });
    const options = { signal, fieldManager: profile.fieldManager };
    const wanted = secretOf(profile, after, { ...found?.metadata, ...key }, found?.type);
    const written = await (found ? client.update(Secret, wanted, options) : client.create(Secret, wanted, options));
    cache.recordWrite(Secret, written);
    this.#log.info(`wrote the ${profile.noun}s`, { step, reason });
    return true;
  }

  /** A Secret without our label belongs to another owner, unless it is empty. */
  #refuseForeign(found: SecretView | undefined): void {
    const { profile, secret } = this.#options;
    const { label, operator, noun } = profile;
    if (!found || found.metadata.labels?.[label] === operator) return;
    if (Object.values(found.data).every((value) => value === '')) return;
    throw new BowlineError(
      profile.codes.foreign,
      `cannot keep ${noun}s in the Secret ${secret.namespace}/${secret.name}: it lacks the label ${label}=${operator}, so it was not created by this operator; delete it, or configure it as an external certificate`,
    );
  }

  /**
   * #liveBundle returns the CA bundle of the current Secret, or undefined if the Secret is damaged: then there is
   * nothing to publish yet.
   */
  async #liveBundle(signal: AbortSignal): Promise<string | undefined> {
    const { client, secret, profile } = this.#options;
    const found = await client.find(Secret, secret, { signal });
    const state = found && readState(profile, viewSecret(found), { known: undefined, trusted: [] });
    return state && state.damage.length === 0 ? bundleOf(state) : undefined;
  }
}
