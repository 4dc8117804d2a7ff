import type { ObjectKey, Secret } from '@bowline/kubernetes';
import { type Clock, type Random, systemClock, systemRandom } from '@bowline/machinery';
import { Cache } from '../cache/cache.ts';
import type { Client } from '../client/client.ts';
import { type OperatorId, operatorIdentity } from '../identity/operator-identity.ts';
import { type Log, silentLog } from '../observability/log.ts';
import { type Metrics, noMetrics } from '../observability/metrics.ts';
import { certificateProfile } from './certificate-profile.ts';
import { bundleOf, type CertificateState } from './certificate-state.ts';
import { type IssuedLeaf, issueLeaf, type LeafRequest, unavailable } from './issue-leaf.ts';
import { ManagedCertificates } from './managed-certificates.ts';
import { CurrentIdentity, type TlsIdentity } from './tls-identity.ts';
import { noTrust, type Trust } from './trust.ts';

/** CertificateAuthorityOptions configures a CA of an operator and the operator's own certificate. */
export interface CertificateAuthorityOptions {
  readonly operator: OperatorId;
  /** Holds the CA with its key, and the operator's own certificate. Grant access to nothing else. */
  readonly secret: ObjectKey;
  /** The operator's own certificate, with which it connects to its peers or serves them. */
  readonly certificate: LeafRequest;
  /**
   * Returns the CA bundles (`ca.crt`) of the Secrets that `issue` filled, as last observed. A new CA issues nothing
   * before all of them contain it. Every replica decides about that, so they must be known on each of them, for example
   * from a cache. Defaults to none: a new CA issues once `propagationMs` have passed.
   */
  readonly bundles?: (() => readonly string[]) | undefined;
  /**
   * An annotation with which another controller claims the Secret, for example cert-manager: then it is only read.
   * Defaults to none.
   */
  readonly providedAnnotation?: string | undefined;
  /** The lifetime of certificates; renewed when a third of it is left. Defaults to 90 days. */
  readonly certificateValidForMs?: number | undefined;
  /** The lifetime of the CA; replaced when a third of it is left. Defaults to one year. */
  readonly authorityValidForMs?: number | undefined;
  /**
   * How long all bundles must contain a new CA before it issues: the kubelet updates mounted Secrets within minutes.
   * Defaults to one hour.
   */
  readonly propagationMs?: number | undefined;
  /** Defaults to the system clock, by which peers check certificates. */
  readonly clock?: Clock | undefined;
  /** Defaults to Math.random. */
  readonly random?: Random | undefined;
  /** Defaults to no logging. */
  readonly log?: Log | undefined;
  /** Defaults to no metrics. */
  readonly metrics?: Metrics | undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * CertificateAuthority keeps a CA and a certificate of an operator in a Secret, and issues further certificates for
 * other Secrets. Certificates are renewed, and the CA is replaced, when a third of their lifetime is left. Old and new
 * CAs overlap, so that peers always trust each other.
 *
 * @example
 * const authority = new CertificateAuthority({
 *   operator: { name: 'shops', domain: 'example.com' },
 *   secret: { namespace, name: 'shops-mtls' },
 *   certificate: { names: ['manager.shops'], usages: ['client'] },
 * });
 * const service: Service = { name: 'authority', run: (signal, _, { client }) => authority.run(signal, client) };
 */
export class CertificateAuthority {
  readonly #options: CertificateAuthorityOptions;
  readonly #clock: Clock;
  readonly #identity = new CurrentIdentity();
  readonly #wakers = new Set<() => void>();
  #state: CertificateState | undefined;
  #source: ManagedCertificates | undefined;

  constructor(options: CertificateAuthorityOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** The operator's own certificate, and the CAs to trust; undefined until they exist. */
  get current(): TlsIdentity | undefined {
    return this.#identity.value;
  }

  /**
   * changes yields the certificate and the trusted CAs, and again when they have changed, for `triggeredBy` of a
   * controller. It ends when the signal is aborted.
   */
  changes(signal: AbortSignal): AsyncIterable<TlsIdentity> {
    return this.#identity.changes(signal);
  }

  /** ready resolves once there is a certificate. It rejects when the signal is aborted. */
  ready(signal: AbortSignal): Promise<TlsIdentity> {
    return this.#identity.ready(signal);
  }

  /** problem returns why the certificates cannot be kept current at the moment, or undefined. */
  problem(): Error | undefined {
    return this.#source?.problem();
  }

  /**
   * run keeps the Secret current until the signal is aborted. Run it as a service of every replica, with the client of
   * its context, which does not wait for leadership: any replica writes the Secret, with optimistic locking. See
   * `authorityPermissions`.
   */
  async run(signal: AbortSignal, client: Client): Promise<void> {
    const { log = silentLog, random = systemRandom } = this.#options;
    const cache = new Cache({ client, clock: this.#clock, random, log });
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const source = this.#managed(client, cache);
    this.#source = source;
    const parts = [cache.run(until), source.run(until)].map((part) =>
      part.catch((error: unknown) => failed.abort(error)),
    );
    await Promise.all(parts);
    if (failed.signal.aborted) throw failed.signal.reason;
  }

  /**
   * issue returns the content of a Secret with another certificate, for example of a server in another namespace. Pass
   * the Secret as it exists and write the result: it is the same content if nothing has to change. Call it again at
   * `checkAt`, and when the CAs change (`changes`). It throws BOWLINE_CERTIFICATE_AUTHORITY_UNAVAILABLE if the CA
   * cannot issue now.
   */
  async issue(existing: Pick<Secret, 'data'> | undefined, request: LeafRequest): Promise<IssuedLeaf> {
    const { secret } = this.#options;
    if (!this.#state) throw unavailable(`the Secret ${secret.namespace}/${secret.name} is not ready yet`);
    const validForMs = this.#options.certificateValidForMs ?? 90 * DAY_MS;
    const issued = await issueLeaf(this.#state, existing, { ...request, validForMs }, this.#clock.now());
    // Its Secret may have been the last one without the next CA.
    if (this.#state.next) for (const wake of this.#wakers) wake();
    return issued;
  }

  #managed(client: Client, cache: Cache): ManagedCertificates {
    const { secret, operator, certificate, providedAnnotation } = this.#options;
    const { log = silentLog, metrics = noMetrics, random = systemRandom } = this.#options;
    const source: ManagedCertificates = new ManagedCertificates({
      client,
      cache,
      secret,
      profile: certificateProfile(operator),
      policy: {
        authorityName: `${operatorIdentity(operator).objectName}-ca`.slice(0, 64),
        leafName: (certificate.names[0] ?? operator.name).slice(0, 64),
        usages: certificate.usages,
        names: certificate.names,
        leafValidForMs: this.#options.certificateValidForMs ?? 90 * DAY_MS,
        authorityValidForMs: this.#options.authorityValidForMs ?? 365 * DAY_MS,
        propagationMs: this.#options.propagationMs ?? HOUR_MS,
        issuesOtherLeaves: true,
      },
      trust: this.#trust(),
      providedAnnotation,
      onState: (state) => {
        this.#state = state;
        this.#identity.set(source.current, bundleOf(state));
      },
      clock: this.#clock,
      random,
      log,
      metrics,
    });
    return source;
  }

  /** The callers of `issue` write the bundles. */
  #trust(): Trust {
    const bundles = (): readonly string[] => this.#options.bundles?.() ?? [];
    return {
      ...noTrust,
      bundles,
      ownBundles: bundles,
      subscribe: (listener) => {
        this.#wakers.add(listener);
        return { [Symbol.dispose]: () => void this.#wakers.delete(listener) };
      },
    };
  }
}
